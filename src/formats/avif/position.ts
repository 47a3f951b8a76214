/** Detects a location in Exif, XMP or QuickTime user data. */

import type { Box } from '../bmff/fields.ts'
import { type BoxFile, readRuns } from '../bmff/file.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { exifItemHasLocation } from '../metadata/exif.ts'
import { MAX_METADATA_BYTES, xmpHasLocation } from '../metadata/xmp.ts'
import type { Item, Meta } from './meta.ts'
import type { Movie } from './tracks.ts'

/** Limit on the metadata items, and on the `uuid` boxes, that are searched. */
const MAX_SEARCHED = 16

/** XMP in a `uuid` box of its own (XMP specification, part 3). */
const XMP_UUID = new Uint8Array([
  0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac,
])

/** Location boxes in user data, by QuickTime and 3GPP. */
const LOCATION_BOX = /\u00a9xyz|loci/

export async function detectLocation(
  file: BoxFile,
  boxes: Box[],
  meta: Meta | null,
  movie: Movie | null,
): Promise<boolean> {
  const descriptions = [...(meta?.items.values() ?? [])].filter((item) => isExif(item) || isXmp(item))
  for (const item of descriptions.slice(0, MAX_SEARCHED)) {
    const bytes = await readRuns(file, item.extents ?? [], MAX_METADATA_BYTES)
    if (isExif(item) ? exifItemHasLocation(bytes) : xmpHasLocation(latin1(bytes))) return true
  }
  for (const { body, end } of boxes.filter(({ type }) => type === 'uuid').slice(0, MAX_SEARCHED)) {
    const bytes = await readRuns(file, [{ start: body, end }], MAX_METADATA_BYTES)
    if (sameBytes(bytes.subarray(0, 16), XMP_UUID) && xmpHasLocation(latin1(bytes))) return true
  }
  return movie !== null && userDataHasLocation(movie)
}

function isExif({ type }: Item): boolean {
  return type === 'Exif'
}

function isXmp({ type, contentType }: Item): boolean {
  return type === 'mime' && contentType === 'application/rdf+xml'
}

function userDataHasLocation({ box, fields }: Movie): boolean {
  const children = fields.bodyOf(box).boxes()
  return [box, ...children.filter(({ type }) => type === 'trak')].some((holder) => {
    const inner = fields.bodyOf(holder).boxes()
    return inner.some((child) => {
      const body = fields.bodyOf(child)
      return child.type === 'udta' && LOCATION_BOX.test(latin1(body.rest().subarray(0, MAX_METADATA_BYTES)))
    })
  })
}
