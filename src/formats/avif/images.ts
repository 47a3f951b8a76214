/** Validates the images of a file: sizes, codec configuration, derivations, and completeness of data. */
import { MAX_FRAME_PIXELS } from '../../protocol.ts'
import { addZeros, type Edit } from '../bmff/edits.ts'
import { Fields, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, isZeroRun, readRuns } from '../bmff/file.ts'
import { checkDimensions } from '../damaged.ts'
import { propertyKinds, TRANSFORMATIONS } from './box-rules.ts'
import { AV1 } from './kept-items.ts'
import { type Item, MAX_ITEMS, type Meta, propertyOf, spatialExtent } from './meta.ts'
import { configuredSequence, type ObuSummary, type ObuWalk } from './obus.ts'
import { isSameSize, type SequenceHeader, TWO_SIZES } from './sequence-header.ts'

/**
 * Kinds of properties that an image has at most once (23008-12, 6.5.3; AVIF 1.2, 2.2.1). Given several, some decoders use the
 * first, others the last or none.
 */
const SINGLE = ['ispe', 'av1C', 'prof', 'nclx']

/** Size limit for the description of a derived image. An overlay of 1,000 images takes 8 kB. Unit: bytes. */
const MAX_DERIVATION_BYTES = 64 * 1024

/**
 * Throws `Refusal('damaged-image')` unless all images are complete and consistent. Adds edits of derived images' descriptions
 * to `edits`; `walk` collects those of coded data.
 */
export async function checkImages(
  file: BoxFile,
  meta: Meta,
  images: Map<number, Item>,
  walk: ObuWalk,
  edits: Edit[],
): Promise<void> {
  checkDerivations(images)
  const kinds = propertyKinds(meta)
  // Items may share data.
  const summaries = new Map<string, ObuSummary>()
  // Grids may share tiles.
  const tiles = new Map<number, Tile>()
  // In file order, so that neighbouring images share a read.
  const byOffset = [...images.values()].toSorted(
    (a, b) => (a.extents?.[0]?.start ?? 0) - (b.extents?.[0]?.start ?? 0),
  )
  const coded = byOffset.filter(({ type }) => type === AV1)
  const codedAt = new Set(coded.flatMap(({ extents }) => extents ?? []).map(({ start }) => start))
  for (const image of byOffset) {
    if (file.cursor.work.spend(4 + image.inputs.length)) await file.cursor.work.yield()
    const { width, height } = spatialExtent(image)
    checkDimensions(width, height)
    for (const type of SINGLE) {
      if (image.properties.filter(({ property }) => kinds.get(property) === type).length > 1)
        refuse(`an image has two ${type} properties`)
    }
    if (image.type === AV1) {
      const key = JSON.stringify(image.extents)
      const data = summaries.get(key) ?? (await walk(dataOf(image)))
      summaries.set(key, data)
      checkCoded(image, data)
    } else if (image.type !== 'iden') {
      // The bytes after a description are zeroed, so they must not be the data of another image.
      if (image.extents?.some(({ start }) => codedAt.has(start))) refuse('its boxes or images overlap')
      await checkDerived(file, meta, image, tiles, edits)
    }
  }
}

function checkCoded(image: Item, data: ObuSummary): void {
  const { width, height } = spatialExtent(image)
  const sequence = checkCodedData(data, configuredSequence(propertyOf(image, 'av1C')))
  const fits = width <= sequence.maxWidth && height <= sequence.maxHeight
  const exact = width === sequence.maxWidth && height === sequence.maxHeight
  if (!fits || (sequence.exact && !exact)) refuse('the size of an image does not match its ispe')
}

/** Throws unless the data contains a picture within the size limits. */
export function checkPicture({ hasPicture, sequence }: ObuSummary): void {
  if (!hasPicture) refuse('an image has no picture data')
  if (sequence) checkDimensions(sequence.maxWidth, sequence.maxHeight)
}

/**
 * Throws unless the data can be decoded on its own and is within the size limits. `configured`: the sequence header in
 * `av1C`. Returns the sequence header that decoders use.
 */
export function checkCodedData(data: ObuSummary, configured: SequenceHeader | null): SequenceHeader {
  checkPicture(data)
  const sequence = data.sequence ?? configured ?? refuse('an image has no sequence header')
  if (configured && !isSameSize(sequence, configured)) refuse(TWO_SIZES)
  checkDimensions(sequence.maxWidth, sequence.maxHeight)
  return sequence
}

/** Validates the description of a derived image, and zeroes the bytes after it, which readers ignore. */
async function checkDerived(
  file: BoxFile,
  meta: Meta,
  image: Item,
  tiles: Map<number, Tile>,
  edits: Edit[],
): Promise<void> {
  const extents = dataOf(image)
  const bytes = await readRuns(file, extents, MAX_DERIVATION_BYTES + 1)
  if (bytes.length > MAX_DERIVATION_BYTES) refuse('the description of a grid or overlay is not valid')
  let left = descriptionBytes(image.type, new Fields(bytes, 0), image.inputs.length)
  for (const { start, end } of extents) {
    const from = Math.min(end, start + left)
    left -= from - start
    const tail = { start: from, end }
    if (!(await isZeroRun(file, tail))) addZeros(edits, tail)
  }
  if (image.type === 'grid' || image.type === 'iovl') checkComposed(meta, image, tiles, new Fields(bytes, 0))
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

/** ISO 21496-1, annex C.2, after an own version field (AVIF 1.2, 4.2.2). Unknown versions are not parsed. */
function toneMapBytes(fields: Fields): number {
  const version = fields.u8()
  const minimumVersion = fields.u16()
  fields.skip(2)
  if (version !== 0 || minimumVersion !== 0) return 3
  const flags = fields.u8()
  const channels = flags & 0x80 ? 3 : 1
  return 6 + (flags & 0x08 ? 4 + 8 + 20 * channels : 16 + 40 * channels)
}

/** A sample transform (AVIF 1.2, 4.2.3.2): tokens, with a value after each constant. */
function skipExpression(fields: Fields): void {
  const constantBytes = 1 << (fields.u8() & 3)
  for (let tokens = fields.u8(); tokens > 0; tokens--) if (fields.u8() === 0) fields.skip(constantBytes)
}

function checkComposed(meta: Meta, image: Item, tiles: Map<number, Tile>, fields: Fields): void {
  const { inputs } = image
  const [version, flags] = [fields.u8(), fields.u8()]
  if (version !== 0) refuse('the description of a grid or overlay is not valid')
  const width = flags & 1 ? 4 : 2
  const declared = spatialExtent(image)
  if (image.type === 'grid') {
    const [rows, columns] = [fields.u8() + 1, fields.u8() + 1]
    if (rows * columns !== inputs.length) refuse('a grid has the wrong number of tiles')
    const own = [...new Set(inputs)].flatMap((id) => {
      const item = meta.items.get(id)
      const tile = tiles.get(id) ?? (item && tileOf(item))
      if (tile) tiles.set(id, tile)
      return tile ?? []
    })
    checkTiles(own, rows, columns, declared)
  } else {
    fields.skip(8)
  }
  if (fields.uint(width) !== declared.width || fields.uint(width) !== declared.height) {
    refuse('the size of an image does not match its ispe')
  }
  if (image.type === 'iovl' && (inputs.length === 0 || fields.left !== inputs.length * 2 * width)) {
    refuse('the description of a grid or overlay is not valid')
  }
}

/**
 * Throws unless all tiles have the same size and coding, none lies outside the image (MIAF, 7.3.11.4), and none has a
 * transformation of its own (AVIF 1.2, 4.2.1).
 */
function checkTiles(tiles: Tile[], rows: number, columns: number, image: { width: number; height: number }) {
  const { width, height } = tiles[0] ?? refuse('a tile is missing')
  const fills = width * columns >= image.width && height * rows >= image.height
  if (!fills) refuse('the tiles do not fill the image')
  if (width * (columns - 1) >= image.width || height * (rows - 1) >= image.height) {
    refuse('a tile lies outside the image')
  }
  const codings = new Set<string>()
  for (const tile of tiles) {
    if (tile.width !== width || tile.height !== height) refuse('the tiles of a grid differ in size')
    if (tile.isTransformed) refuse('a tile of a grid is turned or cropped')
    if (tile.coding !== null) codings.add(tile.coding)
  }
  if (codings.size > 1) refuse('the tiles of a grid are coded differently')
}

interface Tile {
  width: number
  height: number
  isTransformed: boolean
  /** `null` for a derived image. */
  coding: string | null
}

function tileOf(item: Item): Tile {
  return {
    ...spatialExtent(item),
    isTransformed: item.properties.some(({ property }) => TRANSFORMATIONS.has(property.box.type)),
    coding: item.type === AV1 ? codingOf(propertyOf(item, 'av1C')) : null,
  }
}

/** Profile, bit depth and chroma format from `av1C`, which all tiles must share. Levels and tiers may differ. */
function codingOf(av1C: Fields | null): string {
  if (!av1C || av1C.left < 3) return refuse('an image has no valid av1C property')
  av1C.skip(1)
  return `${av1C.u8() >> 5}, ${av1C.u8() & 0x7c}`
}

/** The extents of an item. Throws when they overlap: viewers concatenate them in memory. */
function dataOf({ extents }: Item): Run[] {
  if (!extents?.length) return refuse('an image has no data')
  const inOrder = extents.toSorted((a, b) => a.start - b.start)
  if (inOrder.some(({ start }, index) => index > 0 && start < inOrder[index - 1]!.end))
    refuse('its boxes or images overlap')
  return extents
}

/**
 * Levels of derivation. A chain leads from coded images to grids, overlays, sample transforms (AVIF 1.2, 4.2.3) and tone maps
 * (4.2.2), with each level at most once. An identity derivation may follow any level, but not another identity.
 */
const LEVELS: Record<string, number> = { av01: 0, grid: 1, iovl: 2, sato: 3, tmap: 4 }

/** Number of inputs, by type of image. */
const INPUTS: Record<string, { min: number; max: number }> = {
  av01: { min: 0, max: 0 },
  iden: { min: 1, max: 1 },
  grid: { min: 1, max: MAX_ITEMS },
  iovl: { min: 1, max: MAX_ITEMS },
  // Operands are numbered from 1 to 32 (AVIF 1.2, 4.2.3.3).
  sato: { min: 1, max: 32 },
  tmap: { min: 2, max: 2 },
}

/** Limit on the coded pixels per image, counting each as often as it is decoded. */
const MAX_CODED_PIXELS = 4 * MAX_FRAME_PIXELS

/** The cost of decoding one image. */
interface DecodeCost {
  /** Derivation level. For an identity, the level of its input. */
  level: number
  pictures: number
  pixels: number
}

/**
 * Throws `Refusal('damaged-image')` unless every derivation chain satisfies MIAF, has no cycle, and expands to at most
 * `MAX_ITEMS` coded images. Takes time linear in the number of references.
 */
function checkDerivations(images: Map<number, Item>): void {
  const costs = new Map<number, DecodeCost>()

  /** `parentLevel`: level of the image that is derived from this one. Levels bound the depth of the recursion. */
  function costOf(id: number, parentLevel: number, parentIsIdentity: boolean): DecodeCost {
    const item = images.get(id) ?? refuse('it refers to an item that does not exist')
    const isIdentity = item.type === 'iden'
    const known = costs.get(id)
    const level = known?.level ?? (isIdentity ? -1 : LEVELS[item.type]!)
    if (level >= parentLevel || (isIdentity && parentIsIdentity)) {
      refuse('an image is derived from images of a type that it cannot use (dimg)')
    }
    if (known) return known
    const { min, max } = INPUTS[item.type]!
    if (item.inputs.length < min) refuse('a derived image has no inputs (dimg)')
    if (item.inputs.length > max) refuse('an image is derived from too many images (dimg)')
    const cost = item.inputs.length > 0 ? { level, pictures: 0, pixels: 0 } : codedCost(item)
    for (const input of item.inputs) {
      const part = costOf(input, isIdentity ? parentLevel : level, isIdentity)
      cost.pictures += part.pictures
      cost.pixels += part.pixels
      if (isIdentity) cost.level = part.level
    }
    if (cost.pictures > MAX_ITEMS || cost.pixels > MAX_CODED_PIXELS) {
      refuse('an image is derived from too many images (dimg)')
    }
    costs.set(id, cost)
    return cost
  }
  for (const id of images.keys()) costOf(id, Number.POSITIVE_INFINITY, false)
}

function codedCost(item: Item): DecodeCost {
  const { width, height } = spatialExtent(item)
  return { level: 0, pictures: 1, pixels: width * height }
}
