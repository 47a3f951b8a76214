/** External image resizer for previews, instead of those that clients upload (docs/decisions/080). */
import { EXTENSIONS, PREVIEW_MAX_BYTES, PREVIEW_MAX_SIDE_PIXELS, rawPath } from '../protocol.ts'
import type { ImageRecord } from '../stores/object-store.ts'

export type Resizer = NonNullable<ReturnType<typeof createResizer>>

export interface Resized {
  address: string
  /** Unit: pixels. */
  width: number
  height: number
}

/** `template`: see `resizerTemplate`. `baseUrl`: no trailing slash. `null` without a template. */
export function createResizer(template: string | null, baseUrl: string) {
  if (template === null) return null
  return {
    /** Origin that browsers load previews from. */
    origin: new URL(template).origin,
    /** `null` for animated and small images, which serve as their own preview. */
    resized(record: ImageRecord): Resized | null {
      const { id, type, width, height, animated, size } = record
      if (animated || type === 'image/gif' || size <= PREVIEW_MAX_BYTES) return null
      const scale = Math.min(1, PREVIEW_MAX_SIDE_PIXELS / Math.max(width, height))
      const side = (length: number) => Math.max(1, Math.round(length * scale))
      const address = template.replace('{url}', () => `${baseUrl}${rawPath(id)}.${EXTENSIONS[type]}`)
      return { address, width: side(width), height: side(height) }
    },
  }
}
