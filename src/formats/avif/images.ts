/** Checks the images of a file: sizes, settings, tiles, and that their data is whole. */

import { joined } from '../../bytes.ts'
import type { Edit } from '../bmff/edits.ts'
import { Fields, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, readRun } from '../bmff/file.ts'
import { checkDimensions } from '../damaged.ts'
import { propertyOf, spatialExtent } from './item-properties.ts'
import type { Item, Meta } from './items.ts'
import { AV1 } from './kept-items.ts'
import type { ObuSummary, ObuWalk } from './obus.ts'

/** The largest description of a derived image that is read: an overlay of 1,000 images takes 8 KB. Unit: bytes. */
const MAX_DERIVATION_BYTES = 64 * 1024

/**
 * Throws `Refusal('damaged-image')` unless all these images are whole and agree with themselves. Returns what has to go of
 * their data.
 */
export async function checkImages(
  file: BoxFile,
  meta: Meta,
  images: Iterable<Item>,
  walk: ObuWalk,
): Promise<Edit[]> {
  const edits: Edit[] = []
  const walked = new Set<string>()
  // In order of place, so that one read serves neighbours.
  const placed = [...images].toSorted((a, b) => (a.extents?.[0]?.start ?? 0) - (b.extents?.[0]?.start ?? 0))
  for (const image of placed) {
    if (file.cursor.work.spend(4)) await file.cursor.work.turn()
    const { width, height } = spatialExtent(image)
    checkDimensions(width, height)
    if (image.type === AV1) {
      const found = await checkCoded(image, walk)
      // Items may share their data.
      const place = JSON.stringify(image.extents)
      if (!walked.has(place)) edits.push(...found)
      walked.add(place)
    } else if (image.type === 'grid' || image.type === 'iovl') await checkComposed(file, meta, image)
    else if (image.inputs.length === 0) refuse('a derived image has no inputs (dimg)')
  }
  return edits
}

async function checkCoded(image: Item, walk: ObuWalk): Promise<Edit[]> {
  const { width, height } = spatialExtent(image)
  const settings = codecSettings(propertyOf(image, 'av1C'))
  const data = await walk(dataOf(image))
  checkCodedData(data, settings)
  const sequence = data.sequence
  if (!sequence) return data.edits
  const fits = width <= sequence.maxWidth && height <= sequence.maxHeight
  const exact = width === sequence.maxWidth && height === sequence.maxHeight
  if (!fits || (sequence.exact && !exact)) refuse('an image is not as large as its ispe says')
  return data.edits
}

/** The header of `av1C` (AV1 in ISOBMFF, 2.3.3). */
export interface CodecSettings {
  /** Units that belong before the data, e.g. its sequence header. */
  hasUnits: boolean
}

export function codecSettings(fields: Fields | null): CodecSettings {
  if (!fields || fields.left < 4 || fields.u8() !== 0x81) return refuse('an image has no valid av1C property')
  fields.skip(3)
  return { hasUnits: fields.left > 0 }
}

/** Throws unless the data can start a picture, within the limits. */
export function checkCodedData(data: ObuSummary, settings: CodecSettings): void {
  if (!data.hasPicture) refuse('an image has no picture data')
  if (data.sequence) checkDimensions(data.sequence.maxWidth, data.sequence.maxHeight)
  else if (!settings.hasUnits) refuse('an image has no sequence header')
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
    const tile = meta.items.get(inputs[0]!)
    const tileSize = tile ? spatialExtent(tile) : refuse('a tile is missing')
    if (tileSize.width * columns < declared.width || tileSize.height * rows < declared.height) {
      refuse('the tiles do not fill the image')
    }
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
