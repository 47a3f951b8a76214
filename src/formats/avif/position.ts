/** Does the file name a place? In Exif, in XMP, or as QuickTime writes it. */

import type { Box } from '../bmff/fields.ts'
import { type BoxFile, readRuns } from '../bmff/file.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { placeInExifItem } from '../metadata/exif.ts'
import { MAX_METADATA_BYTES, namesPlaceInXmp } from '../metadata/xmp.ts'
import type { Item, Meta } from './meta.ts'
import type { Movie } from './tracks.ts'

/** Most descriptions that are searched. */
const MAX_SEARCHED = 16

/** XMP in a `uuid` box of its own (XMP specification, part 3). */
const XMP_UUID = new Uint8Array([
  0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac,
])

/** A place in user data, as QuickTime and 3GPP write it. */
const PLACE_BOX = /\u00a9xyz|loci/

export async function namesPlace(
  file: BoxFile,
  boxes: Box[],
  meta: Meta | null,
  movie: Movie | null,
): Promise<boolean> {
  const descriptions = [...(meta?.items.values() ?? [])].filter((item) => isExif(item) || isXmp(item))
  for (const item of descriptions.slice(0, MAX_SEARCHED)) {
    const bytes = await readRuns(file, item.extents ?? [], MAX_METADATA_BYTES)
    if (isExif(item) ? placeInExifItem(bytes) : namesPlaceInXmp(latin1(bytes))) return true
  }
  for (const { body, end } of boxes.filter(({ type }) => type === 'uuid').slice(0, MAX_SEARCHED)) {
    const bytes = await readRuns(file, [{ start: body, end }], MAX_METADATA_BYTES)
    if (sameBytes(bytes.subarray(0, 16), XMP_UUID) && namesPlaceInXmp(latin1(bytes))) return true
  }
  return movie !== null && placeInUserData(movie)
}

function isExif({ type }: Item): boolean {
  return type === 'Exif'
}

function isXmp({ type, contentType }: Item): boolean {
  return type === 'mime' && contentType === 'application/rdf+xml'
}

function placeInUserData({ box, fields }: Movie): boolean {
  const children = fields.bodyOf(box).boxes()
  return [box, ...children.filter(({ type }) => type === 'trak')].some((holder) => {
    const inner = fields.bodyOf(holder).boxes()
    return inner.some((child) => {
      const body = fields.bodyOf(child)
      return child.type === 'udta' && PLACE_BOX.test(latin1(body.rest().subarray(0, MAX_METADATA_BYTES)))
    })
  })
}
