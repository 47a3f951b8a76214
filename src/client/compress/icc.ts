/** Classifies colour profiles for the compression policy (ICC.1:2022). */
import type { ProfileKind } from './plan.ts'

const TAG_TABLE_OFFSET = 128

export function profileKindOf(profile: Uint8Array | null): ProfileKind {
  if (profile === null) return 'none'
  if (profile.length < TAG_TABLE_OFFSET + 4 || name(profile, 36) !== 'acsp') return 'unusable'
  const space = name(profile, 16)
  if (space === 'GRAY') return 'gray'
  if (space !== 'RGB ') return 'unusable'
  return isSrgb(profile) ? 'srgb' : 'rgb'
}

/** The profile if it is needed. `null` for sRGB, the default, and for colour spaces that don't apply to RGB pixels. */
export function rgbProfile(profile: Uint8Array | null): Uint8Array | null {
  return profileKindOf(profile) === 'rgb' ? profile : null
}

/** The primaries of IEC 61966-2-1, adapted to D50. */
const SRGB_PRIMARIES = {
  rXYZ: [0.4361, 0.2225, 0.0139],
  gXYZ: [0.3851, 0.7169, 0.0971],
  bXYZ: [0.1431, 0.0606, 0.7141],
}
const PRIMARY_TOLERANCE = 0.003
/** About 2.5 of 255 levels. */
const CURVE_TOLERANCE = 0.01
const CURVE_PROBES = [0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9]

/** Whether removing the profile makes no visible difference, since untagged images are shown as sRGB. */
function isSrgb(profile: Uint8Array): boolean {
  const tags = tagsOf(profile)
  // A lookup table takes precedence over primaries and curves.
  if (tags === null || tags.has('A2B0')) return false
  const primariesFit = Object.entries(SRGB_PRIMARIES).every(([tag, expected]) => {
    const at = tags.get(tag)
    return (
      at !== undefined &&
      at.length >= 20 &&
      expected.every((value, i) => Math.abs(fixed(at, 8 + 4 * i) - value) < PRIMARY_TOLERANCE)
    )
  })
  return primariesFit && ['rTRC', 'gTRC', 'bTRC'].every((tag) => isSrgbCurve(tags.get(tag)))
}

function isSrgbCurve(curve: Uint8Array | undefined): boolean {
  return (
    curve !== undefined &&
    CURVE_PROBES.every((probe) => {
      const light = curveAt(curve, probe)
      return light !== null && Math.abs(srgbEncoded(light) - probe) < CURVE_TOLERANCE
    })
  )
}

/** Linear light for an encoded value, both 0 to 1. `null` for curve types that sRGB profiles don't use. */
function curveAt(curve: Uint8Array, value: number): number | null {
  const view = new DataView(curve.buffer, curve.byteOffset, curve.byteLength)
  if (name(curve, 0) === 'para') return parametricAt(curve, value)
  if (name(curve, 0) !== 'curv' || curve.length < 12) return null
  const count = view.getUint32(8)
  if (count < 256 || curve.length < 12 + 2 * count) return null
  const position = value * (count - 1)
  const below = Math.floor(position)
  const entry = (i: number) => view.getUint16(12 + 2 * Math.min(i, count - 1)) / 65_535
  return entry(below) + (entry(below + 1) - entry(below)) * (position - below)
}

/** ICC.1:2022, 10.18, function types 3 and 4. */
function parametricAt(curve: Uint8Array, value: number): number | null {
  const kind = curve[9]
  const count = kind === 3 ? 5 : kind === 4 ? 7 : 0
  if (count === 0 || curve.length < 12 + 4 * count) return null
  const at = (i: number) => (i < count ? fixed(curve, 12 + 4 * i) : 0)
  const [g, a, b, c, d, e, f] = [at(0), at(1), at(2), at(3), at(4), at(5), at(6)]
  return value >= d ? (a * value + b) ** g + e : c * value + f
}

function srgbEncoded(light: number): number {
  return light <= 0.003_130_8 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055
}

function tagsOf(profile: Uint8Array): Map<string, Uint8Array> | null {
  const view = new DataView(profile.buffer, profile.byteOffset, profile.byteLength)
  const count = view.getUint32(TAG_TABLE_OFFSET)
  if (count > 100 || profile.length < TAG_TABLE_OFFSET + 4 + 12 * count) return null
  const tags = new Map<string, Uint8Array>()
  for (let i = 0; i < count; i++) {
    const at = TAG_TABLE_OFFSET + 4 + 12 * i
    const offset = view.getUint32(at + 4)
    tags.set(name(profile, at), profile.subarray(offset, offset + view.getUint32(at + 8)))
  }
  return tags
}

function name(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4))
}

/** s15Fixed16Number. */
function fixed(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(at) / 65_536
}
