/** How large an image is displayed: after the crop and the rotation that its properties declare. */

import { type Fields, refuse } from '../bmff/fields.ts'
import { spatialExtent } from './item-properties.ts'
import type { Item } from './items.ts'

/** Properties act in the order in which the item has them (23008-12, 6.5.1). A mirror changes no size. */
export function displayedSize(image: Item): { width: number; height: number } {
  let { width, height } = spatialExtent(image)
  for (const { property } of image.properties) {
    if (property.box.type === 'irot' && property.read().u8() & 1) [width, height] = [height, width]
    if (property.box.type === 'clap') {
      const fields = property.read()
      const crop = Array.from({ length: 4 }, () => fraction(fields))
      width = cropped(width, crop[0]!, crop[2]!)
      height = cropped(height, crop[1]!, crop[3]!)
    }
  }
  return { width, height }
}

/** 14496-12, 12.1.4: 32 bits each. Offsets are signed. */
function fraction(fields: Fields): number {
  const [numerator, denominator] = [fields.u32() | 0, fields.u32() | 0]
  return denominator > 0 ? numerator / denominator : refuse('its crop (clap) lies outside the image')
}

/** The side that a crop of `length`, its centre `offset` from the middle, leaves. Unit: pixels. */
function cropped(side: number, length: number, offset: number): number {
  const start = Math.floor(offset + (side - length) / 2)
  const end = start + Math.round(length)
  const left = Math.min(side, end) - Math.max(0, start)
  return left > 0 ? left : refuse('its crop (clap) lies outside the image')
}
