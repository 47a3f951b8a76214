/** Generates ICC profiles for colour spaces that files name only by code point (ICC.1:2022; ITU-T H.273, 8.1). */
import { be32, concatBytes } from '../../bytes.ts'
import { ascii } from '../../formats/bytes/text.ts'

/** Code points of primaries wider than sRGB. */
const BT_2020 = 9
export const DISPLAY_P3 = 12

/** Red, green and blue, adapted to D50. */
const PRIMARIES: Record<number, { name: string; xyz: number[][] }> = {
  [BT_2020]: {
    name: 'BT.2020 with the curve of sRGB',
    xyz: [
      [0.67342, 0.27902, -0.00193],
      [0.16564, 0.67534, 0.02998],
      [0.12513, 0.04564, 0.79733],
    ],
  },
  [DISPLAY_P3]: {
    name: 'Display P3',
    xyz: [
      [0.51512, 0.2412, -0.00105],
      [0.29198, 0.69225, 0.04189],
      [0.1571, 0.06657, 0.78407],
    ],
  },
}

const D50 = [0.9642, 1, 0.8249]
/** IEC 61966-2-1 as function type 3 (10.18): exponent, scale, offset, slope near black, and the end of that segment. */
const SRGB_CURVE = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]

const HEADER_BYTES = 128

/** A profile with these primaries and the sRGB curve. `null` for sRGB's or unknown primaries. */
export function displayProfile(primaries: number): Uint8Array<ArrayBuffer> | null {
  const space = PRIMARIES[primaries]
  if (!space) return null
  const curve = concatBytes(ascii('para'), be32(0), be32(3 << 16), ...SRGB_CURVE.map(fixed))
  const [red, green, blue] = space.xyz.map(xyzTag)
  const tags: [string, Uint8Array][] = [
    ['desc', textTag(space.name)],
    ['cprt', textTag('CC0')],
    ['wtpt', xyzTag(D50)],
    ['rXYZ', red!],
    ['gXYZ', green!],
    ['bXYZ', blue!],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ]
  let at = HEADER_BYTES + 4 + 12 * tags.length
  const offsets = new Map<Uint8Array, number>()
  for (const [, data] of tags) {
    if (offsets.has(data)) continue
    offsets.set(data, at)
    at += data.length
  }
  const table = tags.flatMap(([name, data]) => [ascii(name), be32(offsets.get(data)!), be32(data.length)])
  return concatBytes(header(at), be32(tags.length), ...table, ...offsets.keys())
}

/** 7.2: version 4.3, display class, RGB to XYZ, without platform or manufacturer. */
function header(size: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, size)
  view.setUint32(8, 0x04300000)
  bytes.set(ascii('mntrRGB XYZ '), 12)
  // A creation date is required; a constant one keeps the output deterministic.
  view.setUint16(24, 2000)
  view.setUint16(26, 1)
  view.setUint16(28, 1)
  bytes.set(ascii('acsp'), 36)
  D50.forEach((value, i) => void view.setInt32(68 + 4 * i, Math.round(value * 65_536)))
  return bytes
}

function xyzTag(values: number[]): Uint8Array {
  return concatBytes(ascii('XYZ '), be32(0), ...values.map(fixed))
}

/** 10.15: one en-US record, padded to four bytes. */
function textTag(text: string): Uint8Array {
  const units = concatBytes(...Array.from(text, (character) => Uint8Array.of(0, character.charCodeAt(0))))
  const padding = new Uint8Array((4 - (units.length % 4)) % 4)
  return concatBytes(
    ascii('mluc'),
    be32(0),
    be32(1),
    be32(12),
    ascii('enUS'),
    be32(units.length),
    be32(28),
    units,
    padding,
  )
}

const fixed = (value: number) => be32(Math.round(value * 65_536))
