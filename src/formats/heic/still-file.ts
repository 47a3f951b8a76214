/** Writes a HEIC file with one image (ISO/IEC 23008-12; boxes: 14496-12). */
import { be32, concatBytes } from '../../bytes.ts'
import { ascii } from '../bytes/text.ts'

export interface StillItem {
  id: number
  /** `hvc1` or `grid`. */
  type: string
  /** IDs of a grid's tiles, in order. */
  inputs: number[]
  properties: { type: string; body: Uint8Array; essential: boolean }[]
  data: Uint8Array
}

/** `alpha`: ID of the item with the alpha of `primary`. */
export function stillFile(
  items: StillItem[],
  primary: number,
  alpha: number | null,
): Uint8Array<ArrayBuffer> {
  const brands = box('ftyp', ascii('heic'), be32(0), ascii('mif1'), ascii('heic'))
  // The size of `meta` does not depend on the offsets in it, so a first pass determines where the data starts.
  const head = metaBox(items, primary, alpha, 0)
  const meta = metaBox(items, primary, alpha, brands.length + head.length + 8)
  return concatBytes(brands, meta, box('mdat', ...items.map(({ data }) => data)))
}

function metaBox(items: StillItem[], primary: number, alpha: number | null, dataAt: number): Uint8Array {
  const handler = fullBox('hdlr', 0, be32(0), ascii('pict'), new Uint8Array(13))
  const infos = items.map(({ id, type }) => fullBox('infe', 3, be32(id), u16(0), ascii(type), u8(0)))
  let at = dataAt
  const locations = items.flatMap(({ id, data }) => {
    const location = [be32(id), u16(0), u16(0), u16(1), be32(at), be32(data.length)]
    at += data.length
    return location
  })
  const boxes = items.flatMap(({ properties }) => properties.map(({ type, body }) => box(type, body)))
  let index = 0
  const associations = items.flatMap(({ id, properties }) => [
    be32(id),
    u8(properties.length),
    ...properties.map(({ essential }) => u16(++index | (essential ? 0x8000 : 0))),
  ])
  const grids = items.filter(({ inputs }) => inputs.length > 0)
  const references = grids.map(({ id, inputs }) =>
    box('dimg', be32(id), u16(inputs.length), ...inputs.map((input) => be32(input))),
  )
  if (alpha !== null) references.push(box('auxl', be32(alpha), u16(1), be32(primary)))
  return fullBox(
    'meta',
    0,
    handler,
    fullBox('pitm', 1, be32(primary)),
    // Offsets and lengths of four bytes, no base offset.
    fullBox('iloc', 2, u16(0x4400), be32(items.length), ...locations),
    fullBox('iinf', 1, be32(items.length), ...infos),
    box(
      'iprp',
      box('ipco', ...boxes),
      box('ipma', u8(1), u8(0), u8(0), u8(1), be32(items.length), ...associations),
    ),
    ...(references.length > 0 ? [fullBox('iref', 1, ...references)] : []),
  )
}

function box(type: string, ...parts: Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.length, 8)
  return concatBytes(be32(size), ascii(type), ...parts)
}

function fullBox(type: string, version: number, ...parts: Uint8Array[]): Uint8Array {
  return box(type, u8(version), new Uint8Array(3), ...parts)
}

const u8 = (value: number) => Uint8Array.of(value)
const u16 = (value: number) => Uint8Array.of(value >> 8, value & 255)
