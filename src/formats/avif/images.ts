/** Checks the images of a file: sizes, settings, what they are made of, and that their data is whole. */
import { MAX_FRAME_PIXELS } from '../../protocol.ts'
import { type Edit, zeroInto } from '../bmff/edits.ts'
import { Fields, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun, readRuns } from '../bmff/file.ts'
import { checkDimensions } from '../damaged.ts'
import { AV1 } from './kept-items.ts'
import { type Item, MAX_ITEMS, type Meta, propertyOf, spatialExtent } from './meta.ts'
import { configuredSequence, type ObuSummary, type ObuWalk } from './obus.ts'
import { isSameSize, type SequenceHeader, TWO_SIZES } from './sequence-header.ts'

/** Turns, mirrors and crops. */
const TRANSFORMATIONS = ['clap', 'irot', 'imir']

/** Properties of which an image has one (23008-12, 6.5.3; AVIF 1.2, 2.2.1). Of several some decoders go by the first, others by the last. */
const SINGLE = ['ispe', 'av1C']

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
  const coded = placed.filter(({ type }) => type === AV1)
  const codedAt = new Set(coded.flatMap(({ extents }) => extents ?? []).map(({ start }) => start))
  for (const image of placed) {
    if (file.cursor.work.spend(4 + image.inputs.length)) await file.cursor.work.turn()
    const { width, height } = spatialExtent(image)
    checkDimensions(width, height)
    for (const type of SINGLE) {
      if (image.properties.filter(({ property }) => property.box.type === type).length > 1)
        refuse(`an image has two ${type} properties`)
    }
    if (image.type === AV1) {
      const place = JSON.stringify(image.extents)
      const data = walked.get(place) ?? (await walk(dataOf(image)))
      walked.set(place, data)
      checkCoded(image, data)
    } else if (image.type !== 'iden') {
      // What stands behind a description goes: it may be no other image's data.
      if (image.extents?.some(({ start }) => codedAt.has(start))) refuse('its boxes or images overlap')
      await checkDerived(file, meta, image, edits)
    }
  }
}

function checkCoded(image: Item, data: ObuSummary): void {
  const { width, height } = spatialExtent(image)
  const sequence = checkCodedData(data, configuredSequence(propertyOf(image, 'av1C')))
  const fits = width <= sequence.maxWidth && height <= sequence.maxHeight
  const exact = width === sequence.maxWidth && height === sequence.maxHeight
  if (!fits || (sequence.exact && !exact)) refuse('an image is not as large as its ispe says')
}

/** Throws unless the data holds a picture, within the limits. */
export function checkPicture({ hasPicture, sequence }: ObuSummary): void {
  if (!hasPicture) refuse('an image has no picture data')
  if (sequence) checkDimensions(sequence.maxWidth, sequence.maxHeight)
}

/**
 * Throws unless the data can start a picture, within the limits. `configured`: the sequence header in the settings. Returns
 * the one by which it is decoded.
 */
export function checkCodedData(data: ObuSummary, configured: SequenceHeader | null): SequenceHeader {
  checkPicture(data)
  const sequence = data.sequence ?? configured ?? refuse('an image has no sequence header')
  if (configured && !isSameSize(sequence, configured)) refuse(TWO_SIZES)
  checkDimensions(sequence.maxWidth, sequence.maxHeight)
  return sequence
}

/** Checks the description of a derived image, and blanks the bytes behind it, which readers ignore. */
async function checkDerived(file: BoxFile, meta: Meta, image: Item, edits: Edit[]): Promise<void> {
  const extents = dataOf(image)
  const bytes = await readRuns(file, extents, MAX_DERIVATION_BYTES + 1)
  if (bytes.length > MAX_DERIVATION_BYTES) refuse('the description of a grid or overlay is not valid')
  let left = descriptionBytes(image.type, new Fields(bytes, 0), image.inputs.length)
  for (const { start, end } of extents) {
    const from = Math.min(end, start + left)
    left -= from - start
    const tail = { start: from, end }
    if (!(await isZeroRun(file, tail))) zeroInto(edits, tail)
  }
  if (image.type === 'grid' || image.type === 'iovl') checkComposed(meta, image, new Fields(bytes, 0))
}

/** Unit: bytes from the start of the item's data. */
function descriptionBytes(type: string, fields: Fields, inputs: number): number {
  if (type === 'tmap') return toneMapBytes(fields)
  if (type === 'sato') skipExpression(fields)
  else skipCanvas(type, fields, inputs)
  return fields.at
}

/** Grids (23008-12, 6.6.2.3) and overlays (6.6.2.2). */
function skipCanvas(type: string, fields: Fields, inputs: number): void {
  fields.skip(1)
  const width = fields.u8() & 1 ? 4 : 2
  fields.skip(type === 'grid' ? 2 + 2 * width : 8 + (2 + 2 * inputs) * width)
}

/** ISO 21496-1, annex C.2, behind a version of its own (AVIF 1.2, 4.2.2). Of another version nothing is read. */
function toneMapBytes(fields: Fields): number {
  const version = fields.u8()
  const minimumVersion = fields.u16()
  fields.skip(2)
  if (version !== 0 || minimumVersion !== 0) return 3
  const flags = fields.u8()
  const channels = flags & 0x80 ? 3 : 1
  return 6 + (flags & 0x08 ? 4 + 8 + 20 * channels : 16 + 40 * channels)
}

/** A sample transform (AVIF 1.2, 4.2.3.2): tokens, of which constants bring their value along. */
function skipExpression(fields: Fields): void {
  const constantBytes = 1 << (fields.u8() & 3)
  for (let tokens = fields.u8(); tokens > 0; tokens--) if (fields.u8() === 0) fields.skip(constantBytes)
}

function checkComposed(meta: Meta, image: Item, fields: Fields): void {
  const { inputs } = image
  const [version, flags] = [fields.u8(), fields.u8()]
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

/** A viewer puts the extents together in memory: none may be there twice. */
function dataOf({ extents }: Item): Run[] {
  if (!extents?.length) return refuse('an image has no data')
  const inOrder = extents.toSorted((a, b) => a.start - b.start)
  if (inOrder.some(({ start }, index) => index > 0 && start < inOrder[index - 1]!.end))
    refuse('its boxes or images overlap')
  return extents
}

/**
 * A chain climbs from coded images to grids, overlays, sample transforms (AVIF 1.2, 4.2.3) and tone maps (4.2.2), and
 * passes each step once at most. An identity may stand on any step, but on no other identity.
 */
const STEPS: Record<string, number> = { av01: 0, grid: 1, iovl: 2, sato: 3, tmap: 4 }

/** How many images each is made of. */
const INPUTS: Record<string, { least: number; most: number }> = {
  iden: { least: 1, most: 1 },
  grid: { least: 1, most: MAX_ITEMS },
  iovl: { least: 1, most: MAX_ITEMS },
  // Operands are numbered from 1 to 32 (AVIF 1.2, 4.2.3.3).
  sato: { least: 1, most: 32 },
  tmap: { least: 2, most: 2 },
}

const NO_INPUTS = { least: 0, most: 0 }

/** Coded pixels of one image, each counted as often as a decoder meets it on its way. */
const MAX_CODED_PIXELS = 4 * MAX_FRAME_PIXELS

/** What one image costs a decoder. */
interface Effort {
  /** For an identity derivation, the value of the image that it shows. */
  step: number
  pictures: number
  pixels: number
}

/**
 * Throws `Refusal('damaged-image')` unless every chain is as short as MIAF says, has no cycle, and unfolds to no more
 * coded images than a file may have items. Takes time linear in the number of references.
 */
function checkDerivations(images: Map<number, Item>): void {
  const efforts = new Map<number, Effort>()

  /** `below`: the step of the image that is made of this one. Steps and identities bound the depth of the recursion. */
  function effortOf(id: number, below: number, onIdentity: boolean): Effort {
    const item = images.get(id) ?? refuse('it refers to an item that does not exist')
    const isIdentity = item.type === 'iden'
    const known = efforts.get(id)
    const step = known?.step ?? (isIdentity ? -1 : (STEPS[item.type] ?? 0))
    if (step >= below || (isIdentity && onIdentity)) {
      refuse('an image is made of images that may not be part of it (dimg)')
    }
    if (known) return known
    const { least, most } = INPUTS[item.type] ?? NO_INPUTS
    if (item.inputs.length < least) refuse('a derived image has no inputs (dimg)')
    if (item.inputs.length > most) refuse('an image is made of too many images (dimg)')
    const effort = item.inputs.length > 0 ? { step, pictures: 0, pixels: 0 } : codedEffort(item)
    for (const input of item.inputs) {
      const part = effortOf(input, isIdentity ? below : step, isIdentity)
      effort.pictures += part.pictures
      effort.pixels += part.pixels
      if (isIdentity) effort.step = part.step
    }
    if (effort.pictures > MAX_ITEMS || effort.pixels > MAX_CODED_PIXELS) {
      refuse('an image is made of too many images (dimg)')
    }
    efforts.set(id, effort)
    return effort
  }
  for (const id of images.keys()) effortOf(id, Number.POSITIVE_INFINITY, false)
}

function codedEffort(item: Item): Effort {
  const { width, height } = spatialExtent(item)
  return { step: 0, pictures: 1, pixels: width * height }
}
