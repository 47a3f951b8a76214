/** A service of the operator's that makes previews, in place of those that clients send (docs/decisions/080). */
import { EXTENSIONS, PREVIEW_MAX_BYTES, PREVIEW_MAX_SIDE_PIXELS, rawPath } from '../protocol.ts'
import type { ImageRecord } from '../stores/object-store.ts'

export interface Resizer {
  /** Where browsers get its pictures. */
  origin: string
  /** `null` for an image that is its own preview: it moves, or is small. */
  resized(record: ImageRecord): Resized | null
}

export interface Resized {
  address: string
  /** Unit: pixels. */
  width: number
  height: number
}

/** `template`: as of `resizerTemplate`. `baseUrl`: without a slash at its end. `null` without a template. */
export function resizerOf(template: string | null, baseUrl: string): Resizer | null {
  if (template === null) return null
  const addressOf = ({ id, type }: Pick<ImageRecord, 'id' | 'type'>) =>
    template.replace('{url}', () => `${baseUrl}${rawPath(id)}.${EXTENSIONS[type]}`)
  return {
    origin: new URL(template).origin,
    resized(record) {
      const { type, width, height, animated, size } = record
      if (animated || type === 'image/gif' || size <= PREVIEW_MAX_BYTES) return null
      const scale = Math.min(1, PREVIEW_MAX_SIDE_PIXELS / Math.max(width, height))
      const side = (length: number) => Math.max(1, Math.round(length * scale))
      return { address: addressOf(record), width: side(width), height: side(height) }
    },
  }
}
