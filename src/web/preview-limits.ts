/** From what size on chats show no preview beside a link. Unit: bytes. Measured by others in 2026, promised by nobody. */
import type { Messages } from './messages/english.ts'

const WHATSAPP_BYTES = 600_000
export const X_BYTES = 5_000_000

export type PreviewWords = Pick<Messages['result'], 'noPreviewInWhatsApp' | 'noPreviewAtAll'>

/** One line for whoever is about to share a picture that some chats will not show; `null` if all do. */
export function previewNote(words: PreviewWords, bytes: number): string | null {
  if (bytes > X_BYTES) return words.noPreviewAtAll
  return bytes > WHATSAPP_BYTES ? words.noPreviewInWhatsApp : null
}
