/** Image size limits of link previews in chats. Unit: bytes. Undocumented; third-party measurements of 2026. */
import type { Messages } from './messages/english.ts'

const WHATSAPP_BYTES = 600_000
export const X_BYTES = 5_000_000

export type PreviewWords = Pick<Messages['result'], 'noPreviewInWhatsApp' | 'noPreviewAtAll'>

/** A note for the uploader if some chats won't preview the picture, or `null`. */
export function previewNote(words: PreviewWords, bytes: number): string | null {
  if (bytes > X_BYTES) return words.noPreviewAtAll
  return bytes > WHATSAPP_BYTES ? words.noPreviewInWhatsApp : null
}
