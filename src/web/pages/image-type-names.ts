import type { ImageType } from '../../protocol.ts'

/** How people call the types. */
export const imageTypeNames: Record<ImageType, string> = {
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
  'image/gif': 'GIF',
  'image/webp': 'WebP',
  'image/avif': 'AVIF',
}
