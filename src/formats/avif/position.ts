/** Does the file name a place? In Exif, in XMP, or as QuickTime writes it. */

import { joined } from '../../bytes.ts'
import type { Box, Run } from '../bmff/fields.ts'
import { type BoxFile, readRun } from '../bmff/file.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { latin1 } from '../bytes/text.ts'
import { readExif } from '../metadata/exif.ts'
import { MOST_METADATA_BYTES, namesPlaceInXmp } from '../metadata/xmp.ts'
import type { Item, Meta } from './items.ts'
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
    const bytes = await start(file, item.extents ?? [])
    if (isExif(item) ? placeInExif(bytes) : namesPlaceInXmp(latin1(bytes))) return true
  }
  for (const { body, end } of boxes.filter(({ type }) => type === 'uuid').slice(0, MAX_SEARCHED)) {
    const bytes = await start(file, [{ start: body, end }])
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

/** An Exif item starts with the distance to its TIFF header (23008-12, A.2.1). */
function placeInExif(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false
  const tiff = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  return readExif(bytes.subarray(tiff)).hasLocation
}

function placeInUserData({ box, fields }: Movie): boolean {
  const children = fields.bodyOf(box).boxes()
  return [box, ...children.filter(({ type }) => type === 'trak')].some((holder) => {
    const inner = fields.bodyOf(holder).boxes()
    return inner.some((child) => {
      const body = fields.bodyOf(child)
      return child.type === 'udta' && PLACE_BOX.test(latin1(body.rest().subarray(0, MOST_METADATA_BYTES)))
    })
  })
}

async function start(file: BoxFile, extents: Run[]): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let left = MOST_METADATA_BYTES
  for (const extent of extents) {
    const length = Math.min(left, extent.end - extent.start)
    parts.push(await readRun(file, { start: extent.start, end: extent.start + length }))
    left -= length
  }
  return joined(...parts)
}
