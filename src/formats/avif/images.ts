/** Checks the images of a file: sizes, settings, tiles, and that their data is whole. */

import { joined } from '../../bytes.ts'
import { type Edit, zeroInto } from '../bmff/edits.ts'
import { Fields, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun, readRun } from '../bmff/file.ts'
import { checkDimensions } from '../damaged.ts'
import { type CodecSettings, codecSettings } from './config-units.ts'
import { descriptionBytes } from './derivation-tails.ts'
import { checkDerivations } from './derivations.ts'
import { propertyOf, spatialExtent } from './item-properties.ts'
import type { Item, Meta } from './items.ts'
import { AV1 } from './kept-items.ts'
import type { ObuSummary, ObuWalk } from './obus.ts'
import { isSameSize, type SequenceHeader, TWO_SIZES } from './sequence-header.ts'

/** Turns, mirrors and crops. */
const TRANSFORMATIONS = ['clap', 'irot', 'imir']

/** The largest description of a derived image that is read: an overlay of 1,000 images takes 8 kB. Unit: bytes. */
const MAX_DERIVATION_BYTES = 64 * 1024

/**
 * Throws `Refusal('damaged-image')` unless all these images are whole and agree with themselves. `edits` gets what has to go
 * of descriptions of derived images; `walk` notes the rest.
 */
export async function checkImages(
  file: BoxFile,
  meta: Meta,
  images: Map<number, Item>,
  walk: ObuWalk,
  edits: Edit[],
): Promise<void> {
  checkDerivations(images)
  // Items may share their data.
  const walked = new Map<string, ObuSummary>()
  // In order of place, so that one read serves neighbours.
  const placed = [...images.values()].toSorted(
    (a, b) => (a.extents?.[0]?.start ?? 0) - (b.extents?.[0]?.start ?? 0),
  )
  for (const image of placed) {
    if (file.cursor.work.spend(4 + image.inputs.length)) await file.cursor.work.turn()
    const { width, height } = spatialExtent(image)
    checkDimensions(width, height)
    if (image.type === AV1) {
      const place = JSON.stringify(image.extents)
      const data = walked.get(place) ?? (await walk(dataOf(image)))
      walked.set(place, data)
      checkCoded(image, data)
    } else if (image.type !== 'iden') {
      await zeroTail(edits, file, image)
      if (image.type === 'grid' || image.type === 'iovl') await checkComposed(file, meta, image)
    }
  }
}

function checkCoded(image: Item, data: ObuSummary): void {
  const { width, height } = spatialExtent(image)
  const settings = codecSettings(propertyOf(image, 'av1C'))
  const sequence = checkCodedData(data, settings)
  const fits = width <= sequence.maxWidth && height <= sequence.maxHeight
  const exact = width === sequence.maxWidth && height === sequence.maxHeight
  if (!fits || (sequence.exact && !exact)) refuse('an image is not as large as its ispe says')
}

/** Throws unless the data holds a picture, within the limits. */
export function checkPicture({ hasPicture, sequence }: ObuSummary): void {
  if (!hasPicture) refuse('an image has no picture data')
  if (sequence) checkDimensions(sequence.maxWidth, sequence.maxHeight)
}

/** Throws unless the data can start a picture, within the limits. Returns the header by which it is decoded. */
export function checkCodedData(data: ObuSummary, settings: CodecSettings): SequenceHeader {
  checkPicture(data)
  const sequence = data.sequence ?? settings.sequence ?? refuse('an image has no sequence header')
  if (settings.sequence && !isSameSize(sequence, settings.sequence)) refuse(TWO_SIZES)
  checkDimensions(sequence.maxWidth, sequence.maxHeight)
  return sequence
}

/** Grids (23008-12, 6.6.2.3) and overlays (6.6.2.2). */
async function checkComposed(file: BoxFile, meta: Meta, image: Item): Promise<void> {
  const { inputs } = image
  const fields = await derivation(file, dataOf(image))
  const { version, flags } = { version: fields.u8(), flags: fields.u8() }
  if (version !== 0) refuse('the description of a grid or overlay is not valid')
  const width = flags & 1 ? 4 : 2
  const declared = spatialExtent(image)
  if (image.type === 'grid') {
    const [rows, columns] = [fields.u8() + 1, fields.u8() + 1]
    if (rows * columns !== inputs.length) refuse('a grid has the wrong number of tiles')
    checkTiles(
      [...new Set(inputs)].flatMap((id) => meta.items.get(id) ?? []),
      rows,
      columns,
      declared,
    )
  } else {
    fields.skip(8)
  }
  if (fields.uint(width) !== declared.width || fields.uint(width) !== declared.height) {
    refuse('an image is not as large as its ispe says')
  }
  if (image.type === 'iovl' && (inputs.length === 0 || fields.left !== inputs.length * 2 * width)) {
    refuse('the description of a grid or overlay is not valid')
  }
}

/**
 * Tiles are of one size and one coding, none lies outside the image (MIAF, 7.3.11.4), and none is turned or cropped on its
 * own (AVIF 1.2, 4.2.1).
 */
function checkTiles(tiles: Item[], rows: number, columns: number, image: { width: number; height: number }) {
  const { width, height } = spatialExtent(tiles[0] ?? refuse('a tile is missing'))
  const fills = width * columns >= image.width && height * rows >= image.height
  if (!fills) refuse('the tiles do not fill the image')
  if (width * (columns - 1) >= image.width || height * (rows - 1) >= image.height) {
    refuse('a tile lies outside the image')
  }
  const codings = new Set<string>()
  for (const tile of tiles) {
    const size = spatialExtent(tile)
    if (size.width !== width || size.height !== height) refuse('the tiles of a grid are not of one size')
    if (TRANSFORMATIONS.some((type) => propertyOf(tile, type)))
      refuse('a tile of a grid is turned or cropped')
    if (tile.type === AV1) codings.add(codingOf(propertyOf(tile, 'av1C')))
  }
  if (codings.size > 1) refuse('the tiles of a grid are not coded in one way')
}

/** Profile, bit depth and chroma of `av1C`: what all tiles share. Levels and tiers may differ. */
function codingOf(av1C: Fields | null): string {
  if (!av1C || av1C.left < 3) return refuse('an image has no valid av1C property')
  av1C.skip(1)
  return `${av1C.u8() >> 5}, ${av1C.u8() & 0x7c}`
}

/** What has to go behind the description of a derived image. */
async function zeroTail(edits: Edit[], file: BoxFile, image: Item): Promise<void> {
  const extents = dataOf(image)
  const fields = await derivation(file, extents)
  let left = descriptionBytes(image.type, fields.within(0, fields.end), image.inputs.length)
  for (const { start, end } of extents) {
    const from = Math.min(end, start + left)
    left -= from - start
    const tail = { start: from, end }
    if (!(await isZeroRun(file, tail))) zeroInto(edits, tail)
  }
}

async function derivation(file: BoxFile, extents: Run[]): Promise<Fields> {
  const parts: Uint8Array[] = []
  let length = 0
  for (const extent of extents) {
    length += extent.end - extent.start
    if (length > MAX_DERIVATION_BYTES) refuse('the description of a grid or overlay is not valid')
    parts.push(await readRun(file, extent))
  }
  return new Fields(joined(...parts), 0)
}

function dataOf(image: Item): Run[] {
  return image.extents?.length ? image.extents : refuse('an image has no data')
}
