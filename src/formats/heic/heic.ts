/**
 * HEIC: HEVC-coded still images (ISO/IEC 23008-12, annex B). The server does not accept the format; clients decode and
 * convert it. The decoder is given a rewritten file that contains only the primary image.
 */
import { concatBytes } from '../../bytes.ts'
import { Refusal } from '../../errors.ts'
import { type Colour, colourOf } from '../avif/colour.ts'
import {
  auxiliaryType,
  displayedSize,
  type Item,
  type Meta,
  propertyOf,
  readMeta,
  spatialExtent,
} from '../avif/meta.ts'
import { detectLocation } from '../avif/position.ts'
import { Fields, refuse } from '../bmff/fields.ts'
import { type BoxFile, boxesIn, boxFileOf, readRuns } from '../bmff/file.ts'
import { latin1 } from '../bytes/text.ts'
import { checkDimensions } from '../damaged.ts'
import type { ByteSource } from '../image.ts'
import { type StillItem, stillFile } from './still-file.ts'

/** Properties of a HEIC file that clients need. */
export interface Heic {
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  hasLocation: boolean
  /** The file has a gain map for HDR display. */
  hasGainMap: boolean
  /** Chroma subsampling 4:2:0: half the resolution in both directions. */
  halfChroma: boolean
  colour: Colour
  /** Encodes a HEIC file with only the primary image and its alpha. */
  still(): Promise<Uint8Array<ArrayBuffer>>
}

const HEVC = 'hvc1'

/** Enough for a grid of 200 megapixels in tiles of 512 by 512. */
const MAX_TILES = 1024
/** Length of the longest grid description. Unit: bytes. */
const MAX_GRID_BYTES = 12
/** Limit per property. Encoders write at most a few hundred bytes. Unit: bytes. */
const MAX_SETTINGS_BYTES = 64 * 1024

/** Auxiliary image types (ISO/IEC 23008-12, 6.5.8): alpha in the HEVC and the MPEG naming; Apple's and Adobe's gain maps. */
const ALPHA = /^urn:mpeg:(hevc:2015:auxid:1|mpegB:cicp:systems:auxiliary:alpha)$/
const GAIN_MAP = /hdrgainmap|hdr-gain-map/

/**
 * Throws `Refusal`: `damaged-image`, or `unsupported-type` for a HEIF file whose primary image is neither HEVC-coded nor a
 * grid.
 */
export function readHeic(source: ByteSource): Promise<Heic> {
  return withHeicErrors(() => read(source))
}

/** Rewrites error details: the box reader is shared with AVIF, and its errors say "AVIF file". */
async function withHeicErrors<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(error.code, error.detail.replace('AVIF file', 'HEIC file'))
  }
}

async function read(source: ByteSource): Promise<Heic> {
  const file = boxFileOf(source)
  const { boxes } = await boxesIn(file, { start: 0, end: source.size }, source.size)
  const box = boxes.find(({ type }) => type === 'meta')
  const meta = box ? await readMeta(file, box) : null
  if (!meta) throw unsupported('a video without a still picture')
  const primary = meta.items.get(meta.primary ?? -1)
  if (!primary) return refuse('it has no primary image')
  const tiles = await tilesOf(file, meta, primary)
  const alpha = alphaOf(meta, primary)
  const alphaTiles = alpha ? await tilesOf(file, meta, alpha) : []
  const { width, height } = displayedSize(primary)
  checkDimensions(width, height)
  // HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, 8.3.3.1.2). Every tile has one.
  const settings = propertyOf(tiles[0]!, 'hvcC')!
  settings.skip(16)
  const chromaFormat = settings.u8() & 3
  return {
    width,
    height,
    hasLocation: await detectLocation(file, boxes, meta, null),
    hasGainMap: hasGainMap(meta),
    halfChroma: chromaFormat === 1,
    colour: colourOf(primary, tiles[0]),
    still: () =>
      withHeicErrors(async () => {
        const items: StillItem[] = []
        const masks = alpha ? [alpha, ...alphaTiles] : []
        for (const item of new Set([primary, ...tiles, ...masks])) items.push(await stillItem(file, item))
        return stillFile(withCropsOnGrids(items), primary.id, alpha?.id ?? null)
      }),
  }
}

/** The coded images of an item: itself, or the tiles of a grid (23008-12, 6.6.2.3). */
async function tilesOf(file: BoxFile, meta: Meta, item: Item): Promise<Item[]> {
  const own = spatialExtent(item)
  checkDimensions(own.width, own.height)
  if (item.type === HEVC) return [coded(item)]
  if (item.type !== 'grid') throw unsupported(item.type ? `a picture of kind "${item.type}"` : 'no picture')
  const fields = new Fields(await dataOf(file, item, MAX_GRID_BYTES), 0)
  if (fields.u8() !== 0) refuse('a grid has an unknown version')
  const wide = (fields.u8() & 1) === 1
  const [rows, columns] = [fields.u8() + 1, fields.u8() + 1]
  const [width, height] = wide ? [fields.u32(), fields.u32()] : [fields.u16(), fields.u16()]
  if (rows * columns !== item.inputs.length || rows * columns > MAX_TILES) refuse('a grid lacks tiles')
  if (width !== own.width || height !== own.height) refuse('the size of a grid does not match its ispe')
  const tiles = item.inputs.map((id) => {
    const tile = meta.items.get(id)
    return tile?.type === HEVC ? coded(tile) : refuse('a grid refers to a tile that does not exist')
  })
  const tileSize = spatialExtent(tiles[0]!)
  for (const tile of tiles) {
    const other = spatialExtent(tile)
    if (other.width !== tileSize.width || other.height !== tileSize.height)
      refuse('the tiles of a grid differ in size')
  }
  const isCovered = tileSize.width * columns >= width && tileSize.height * rows >= height
  const isTight = tileSize.width * (columns - 1) < width && tileSize.height * (rows - 1) < height
  if (!isCovered || !isTight) refuse('the tiles of a grid do not match its size')
  return tiles
}

function coded(item: Item): Item {
  const { width, height } = spatialExtent(item)
  checkDimensions(width, height)
  if (!propertyOf(item, 'hvcC') || !item.extents?.length) refuse('a part of the picture is missing')
  return item
}

function alphaOf(meta: Meta, primary: Item): Item | null {
  const sources = meta.references.filter(({ box, ids }) => box.type === 'auxl' && ids.includes(primary.id))
  const items = sources.flatMap(({ from }) => meta.items.get(from ?? -1) ?? [])
  return items.find((item) => ALPHA.test(auxiliaryType(item))) ?? null
}

function hasGainMap(meta: Meta): boolean {
  return [...meta.items.values()].some((item) => item.type === 'tmap' || GAIN_MAP.test(auxiliaryType(item)))
}

/** Properties for decoding and transformations. `colr` is kept only as code points: the client handles ICC profiles itself. */
const KEPT_PROPERTIES = new Set(['ispe', 'hvcC', 'irot', 'imir', 'clap', 'auxC'])

async function stillItem(file: BoxFile, item: Item): Promise<StillItem> {
  const properties = item.properties.flatMap(({ property, essential }) => {
    const { type } = property.box
    const body = property.read().rest()
    const isCodePoints = type === 'colr' && latin1(body.subarray(0, 4)) === 'nclx'
    if (!KEPT_PROPERTIES.has(type) && !isCodePoints) return []
    if (body.length > MAX_SETTINGS_BYTES) refuse('its description is too large')
    return [{ type, body: body.slice(), essential }]
  })
  const data = await dataOf(file, item, file.source.size)
  return { id: item.id, type: item.type, inputs: item.inputs, properties, data }
}

/**
 * Replaces each cropped (`clap`) coded image by a cropped grid with that image as its only tile. libheif 1.23.2 rejects a
 * coded image with more pixels than its crop has, plus a margin (strukturag/libheif#1856).
 */
function withCropsOnGrids(items: StillItem[]): StillItem[] {
  const tiles = new Set(items.flatMap(({ inputs }) => inputs))
  let lastId = Math.max(...items.map(({ id }) => id))
  return items.flatMap((item) => {
    const { id, type, properties, data } = item
    const isCropped = properties.some((property) => property.type === 'clap')
    if (type !== HEVC || tiles.has(id) || !isCropped) return [item]
    const size = properties.find((property) => property.type === 'ispe')!
    const codedProperties = properties.filter((property) => property === size || property.type === 'hvcC')
    // Put `colr` on the grid only: if both have it, libheif expands a limited range twice where a crop splits a chroma sample.
    const gridProperties = properties.filter((property) => property.type !== 'hvcC')
    // One row, one column, then width and height of 32 bits each, copied from `ispe` after its version and flags.
    const layout = concatBytes(Uint8Array.of(0, 1, 0, 0), size.body.subarray(4))
    const tile: StillItem = { id: ++lastId, type, inputs: [], properties: codedProperties, data }
    return [{ id, type: 'grid', inputs: [tile.id], properties: gridProperties, data: layout }, tile]
  })
}

async function dataOf(file: BoxFile, { extents }: Item, maxLength: number): Promise<Uint8Array> {
  if (!extents) return refuse('a part of the picture is missing')
  const data = await readRuns(file, extents, maxLength + 1)
  return data.length > maxLength ? refuse('the description of a grid is too long') : data
}

function unsupported(contents: string): Refusal {
  return new Refusal(
    'unsupported-type',
    `This HEIF file holds ${contents}. Please use JPEG, PNG, GIF, WebP or AVIF.`,
  )
}
