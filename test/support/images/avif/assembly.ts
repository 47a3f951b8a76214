/** Assembles AVIF files box by box from AV1 data encoded with sharp. */
import sharp, { type AvifOptions, type Sharp } from 'sharp'
import { box, bytes, fullBox, u16, u32 } from './boxes.ts'

export interface Property {
  box: Uint8Array
  essential?: boolean
}

export interface Part {
  id: number
  type: string
  data?: Uint8Array
  name?: string
  contentType?: string
  hidden?: boolean
  /** Stores the data in `idat` instead of `mdat`. */
  inIdat?: boolean
  /** Number of extents that the data is split into. */
  pieces?: number
  /** ID of another item whose data it shares, instead of data of its own. */
  sharing?: number
  properties?: Property[]
}

export interface Plan {
  major?: string
  brands?: string[]
  items?: Part[]
  primary?: number
  /** Type, from, to. */
  references?: [string, number, ...number[]][]
  groups?: Uint8Array[]
  metaExtras?: Uint8Array[]
  beforeMeta?: Uint8Array[]
  beforeData?: Uint8Array[]
  afterData?: Uint8Array[]
  /** Bytes in `mdat` that belong to no item. `moov` is called with their offsets. */
  blobs?: Uint8Array[]
  moov?: (offsets: number[]) => Uint8Array
  /** Size of `mdat`: 32 bits, 64 bits, or open-ended. */
  dataSize?: 'short' | 'large' | 'to-end'
  /** Writes `mdat` before `meta` and `moov`, like some encoders. */
  dataFirst?: boolean
  /** Uses the box versions with 32-bit IDs. */
  wideIds?: boolean
}

export function assemble(plan: Plan): Uint8Array {
  const { items = [], dataSize = 'short', brands = ['avif', 'mif1', 'miaf'] } = plan
  const head = bytes(box('ftyp', plan.major ?? 'avif', u32(0), ...brands), ...(plan.beforeMeta ?? []))
  const idat = bytes(...items.filter(({ inIdat }) => inIdat).map(({ data }) => data ?? []))
  const stored = items.filter(({ inIdat, data }) => data && !inIdat)
  const body = bytes(...stored.map(({ data }) => data!), ...(plan.blobs ?? []))
  const dataHeader = { short: u32(8 + body.length), large: u32(1), 'to-end': u32(0) }[dataSize]
  const mdatHeader =
    body.length === 0
      ? bytes()
      : bytes(dataHeader, 'mdat', dataSize === 'large' ? u32(0, 16 + body.length) : [])

  /** The boxes that contain offsets, for data that starts at `dataAt`. */
  const describe = (dataAt: number): Uint8Array => {
    const placeOf: Places = new Map()
    let [at, idatAt] = [dataAt, 0]
    for (const item of items) {
      if (!item.data) continue
      placeOf.set(item.id, { at: item.inIdat ? idatAt : at, length: item.data.length, inIdat: !!item.inIdat })
      if (item.inIdat) idatAt += item.data.length
      else at += item.data.length
    }
    const blobsAt = (plan.blobs ?? []).map((blob) => {
      at += blob.length
      return at - blob.length
    })
    for (const { id, sharing } of items) if (sharing !== undefined) placeOf.set(id, placeOf.get(sharing)!)
    const meta = items.length > 0 ? metaBox(plan, items, placeOf, idat) : []
    return bytes(meta, plan.moov?.(blobsAt) ?? [])
  }
  const between = bytes(...(plan.beforeData ?? []))
  const mdat = bytes(mdatHeader, body)
  const start = head.length + between.length + mdatHeader.length
  const tail = plan.afterData ?? []
  if (plan.dataFirst) return bytes(head, between, mdat, describe(start), ...tail)
  return bytes(head, describe(start + describe(0).length), between, mdat, ...tail)
}

type Places = Map<number, { at: number; length: number; inIdat: boolean }>

function metaBox(plan: Plan, items: Part[], placeOf: Places, idat: Uint8Array): Uint8Array {
  const wide = plan.wideIds ?? false
  const id = (value: number) => (wide ? u32(value) : u16(value))
  // Items may share properties.
  const properties = [...new Set(items.flatMap((item) => item.properties ?? []))]
  const placed = items.filter((item) => placeOf.has(item.id))
  const infos = items.map(({ id: number, type, name = '', contentType, hidden }) =>
    fullBox(
      'infe',
      wide ? 3 : 2,
      hidden ? 1 : 0,
      ...[id(number), u16(0), type, name, [0], ...(contentType === undefined ? [] : [contentType, [0]])],
    ),
  )
  const locations = placed.map((item) => {
    const { at, length, inIdat } = placeOf.get(item.id)!
    const pieces = item.pieces ?? 1
    const step = Math.ceil(length / pieces)
    const extents = Array.from({ length: pieces }, (_, i) =>
      u32(at + Math.min(i * step, length), Math.max(0, Math.min(step, length - i * step))),
    )
    return bytes(id(item.id), u16(inIdat ? 1 : 0), u16(0), u16(pieces), ...extents)
  })
  const associations = items
    .filter(({ properties }) => properties?.length)
    .map((item) => {
      const values = item.properties!.map(
        (property) => (property.essential ? 0x80 : 0) | (properties.indexOf(property) + 1),
      )
      return bytes(id(item.id), [values.length], values)
    })
  const references = (plan.references ?? []).map(([type, from, ...to]) =>
    box(type, id(from), u16(to.length), ...to.map(id)),
  )
  return fullBox(
    'meta',
    0,
    0,
    fullBox('hdlr', 0, 0, u32(0), 'pict', u32(0, 0, 0), [0]),
    plan.primary === undefined ? [] : fullBox('pitm', wide ? 1 : 0, 0, id(plan.primary)),
    fullBox('iloc', wide ? 2 : 1, 0, [0x44, 0], wide ? u32(placed.length) : u16(placed.length), ...locations),
    fullBox('iinf', wide ? 1 : 0, 0, wide ? u32(items.length) : u16(items.length), ...infos),
    references.length > 0 ? fullBox('iref', wide ? 1 : 0, 0, ...references) : [],
    box(
      'iprp',
      box('ipco', ...properties.map((property) => property.box)),
      fullBox('ipma', wide ? 1 : 0, 0, u32(associations.length), ...associations),
    ),
    plan.groups ? box('grpl', ...plan.groups) : [],
    idat.length > 0 ? box('idat', idat) : [],
    ...(plan.metaExtras ?? []),
  )
}

export interface Coded {
  width: number
  height: number
  /** The data of one image item, which also works as a track sample. */
  data: Uint8Array
  av1C: Uint8Array
}

/** Deterministic coloured noise around `mean`. No two parts of it look the same. */
export function noise(width: number, height: number, mean = 128): Sharp {
  const pixels = new Uint8Array(width * height * 3)
  for (let i = 0, state = width * 65_537 + height * 257 + mean; i < pixels.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    pixels[i] = Math.max(0, Math.min(255, mean - 64 + (state >>> 25)))
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

/** Encodes a picture with sharp and extracts its AV1 data. */
export async function coded(picture: Sharp, options: AvifOptions = {}): Promise<Coded> {
  const file = await picture.avif({ effort: 0, ...options }).toBuffer()
  const mdat = file.indexOf('mdat') - 4
  const av1C = file.indexOf('av1C') - 4
  const ispe = file.indexOf('ispe')
  return {
    width: file.readUInt32BE(ispe + 8),
    height: file.readUInt32BE(ispe + 12),
    data: new Uint8Array(file.subarray(mdat + 8, mdat + file.readUInt32BE(mdat))),
    av1C: new Uint8Array(file.subarray(av1C, av1C + file.readUInt32BE(av1C))),
  }
}

export function ispe(width: number, height: number): Property {
  return { box: fullBox('ispe', 0, 0, u32(width, height)) }
}

export function irot(quarters: number): Property {
  return { box: box('irot', [quarters]), essential: true }
}

export function imir(axis: number): Property {
  return { box: box('imir', [axis]), essential: true }
}

/** A centred crop. Unit: pixels. */
export function clap(width: number, height: number): Property {
  return { box: box('clap', u32(width, 1, height, 1, 0, 1, 0, 1)), essential: true }
}

/** Marks an image as the alpha of the images that it refers to. */
export function alphaKind(): Property {
  return { box: fullBox('auxC', 0, 0, 'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0'), essential: true }
}

/** An AV1 image item. */
export function image(id: number, { width, height, data, av1C }: Coded, ...properties: Property[]): Part {
  const basic = [
    ispe(width, height),
    { box: fullBox('pixi', 0, 0, [3, 8, 8, 8]) },
    { box: av1C, essential: true },
  ]
  return { id, type: 'av01', data, properties: [...basic, ...properties] }
}

/** A still image, plus everything in `plan`. */
export function still(picture: Coded, plan: Plan = {}): Uint8Array {
  return assemble({ primary: 1, ...plan, items: [image(1, picture), ...(plan.items ?? [])] })
}

/** A grid of tiles. `width` and `height`: displayed size. */
export function grid(
  id: number,
  [columns, rows]: [columns: number, rows: number],
  [width, height]: [width: number, height: number],
  ...properties: Property[]
): Part {
  const data = bytes([0, 0, rows - 1, columns - 1], u16(width, height))
  return { id, type: 'grid', data, properties: [ispe(width, height), ...properties] }
}

/** The same picture with the given units in `av1C`, instead of those written by sharp. */
export function configured(made: Coded, ...units: Uint8Array[]): Coded {
  return { ...made, av1C: box('av1C', made.av1C.subarray(8, 12), ...units) }
}
