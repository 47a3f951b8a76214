/** Which child boxes and which bytes of a box are kept in an AVIF file. */
import { type Edit, writeEdits, zeroEdits } from '../bmff/edits.ts'
import type { Box, Fields } from '../bmff/fields.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import { ICC_START_BYTES, readProfile } from '../metadata/icc.ts'
import { AUXILIARY_TYPES } from './kept-items.ts'
import type { Meta, Property } from './meta.ts'
import { configEdits } from './obus.ts'

/** Allowed children by parent. All others are blanked: `udta`, XML, `uuid`, unknown boxes. */
export const KEPT_CHILDREN: Record<string, ReadonlySet<string>> = {
  meta: words('hdlr pitm iloc iinf iref iprp grpl idat dinf'),
  iprp: words('ipco ipma'),
  // Properties that change how an image looks (23008-12, MIAF, AVIF).
  ipco: words(
    'ispe pixi pasp colr clap irot imir rloc auxC av1C a1op a1lx lsel iscl clli mdcv cclv amve reve ndwt',
  ),
  // Groups that affect viewers (23008-12, 6.8; `altr`: alternatives, e.g. with and without a gain map).
  grpl: words('altr ster eqiv tsyn brst'),
  moov: words('mvhd trak'),
  trak: words('tkhd tref edts mdia'),
  edts: words('elst'),
  mdia: words('mdhd hdlr minf'),
  minf: words('vmhd nmhd dinf stbl'),
  stbl: words('stsd stts ctts cslg stsc stsz stz2 stco co64 stss'),
  av01: words(
    'av1C colr pasp clap clli mdcv cclv amve reve ndwt ccst auxi auxC btrt fiel irot imir CoLL SmDm',
  ),
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

/** Computes the length of a box's fields, if it is not always the same. Unit: bytes from the start of its body. */
type Length = (body: Fields) => number

/** Version 1 has 64-bit fields. */
const versioned =
  (bytes: number, wideBytes: number): Length =>
  (body) =>
    body.versionAndFlags().version === 1 ? wideBytes : bytes

/** Version and flags, a count, then entries. */
const table =
  (entryBytes: number, wideEntryBytes = entryBytes): Length =>
  (body) => {
    const { version } = body.versionAndFlags()
    return 8 + body.u32() * (version === 1 ? wideEntryBytes : entryBytes)
  }

/** Version and flags, then the type of the auxiliary image, which is kept only if it is a known one. */
const auxiliary: Length = (body) => {
  body.skip(Math.min(4, body.left))
  const name = body.text()
  return AUXILIARY_TYPES.has(name) ? 4 + name.length + 1 : 4
}

/** The length of each box's fields. Readers ignore the bytes after them, so they are zeroed. */
const BODY_BYTES = new Map<string, number | Length>(
  Object.entries({
    // Boxes of items.
    pitm: (body) => (body.versionAndFlags().version > 0 ? 8 : 6),
    // Properties, and boxes of sample entries.
    ispe: 12,
    pixi: (body) => 5 + countAt(body, 4),
    pasp: 8,
    clap: 32,
    irot: 1,
    imir: 1,
    rloc: 12,
    a1op: 1,
    a1lx: (body) => 1 + (countAt(body, 0) & 1 ? 12 : 6),
    lsel: 2,
    iscl: 12,
    clli: 4,
    mdcv: 24,
    cclv: (body) => 1 + colourVolumeBytes(countAt(body, 0)),
    amve: 8,
    reve: 16,
    ndwt: 8,
    btrt: 12,
    ccst: 8,
    fiel: 2,
    CoLL: 8,
    SmDm: 28,
    auxC: auxiliary,
    auxi: auxiliary,
    colr: colourBytes,
    // Boxes of tracks (14496-12, 8).
    mvhd: versioned(100, 112),
    tkhd: versioned(84, 96),
    mdhd: versioned(24, 36),
    vmhd: 4,
    nmhd: 4,
    elst: table(12, 20),
    cslg: versioned(24, 44),
    stco: table(4),
    co64: table(8),
    stsz(body) {
      body.skip(4)
      const [size, count] = [body.u32(), body.u32()]
      return 12 + (size === 0 ? 4 * count : 0)
    },
    stz2(body) {
      body.skip(4)
      const [bits, count] = [body.u32() & 0xff, body.u32()]
      return 12 + Math.ceil((count * bits) / 8)
    },
  } satisfies Record<string, number | Length>),
)

/** Edits for fields that viewers ignore: times, names, serial numbers, reserved fields. */
const IGNORED_FIELDS = new Map<string, (fields: Fields, box: Box) => Edit[]>(
  Object.entries({
    mvhd: movieHeaderEdits,
    tkhd: trackHeaderEdits,
    mdhd: timeEdits,
    hdlr: handlerEdits,
    dinf: dataReferenceEdits,
    av01: sampleEntryEdits,
    av1C: configEdits,
    colr: profileEdits,
  }),
)

/**
 * The edits that blank the ignored bytes of a kept box, but not those of its children. Throws `Refusal('damaged-image')` when
 * the box ends before its fields do.
 */
export function ignoredByteEdits(fields: Fields, box: Box): Edit[] {
  const own = fields.within(box.start, box.end)
  const rule = BODY_BYTES.get(box.type)
  const bytes = typeof rule === 'function' ? rule(own.bodyOf(box)) : rule
  return [
    ...(bytes === undefined ? [] : zeroEdits(own, Math.min(box.end, box.body + bytes), box.end)),
    ...(IGNORED_FIELDS.get(box.type)?.(own, box) ?? []),
  ]
}

/** `null` for a property that viewers ignore. `colr` has a kind for the profile, and one for each kind of code points. */
export function propertyKind(type: string, fields: Fields): string | null {
  if (isIgnoredProperty(type, fields.within(fields.at, fields.end))) return null
  if (type !== 'colr') return type
  const kind = fields.code()
  return kind === 'rICC' ? 'prof' : kind
}

export function propertyKinds({ properties }: Meta): Map<Property, string | null> {
  return new Map(properties.map((one) => [one, propertyKind(one.box.type, one.read())]))
}

/** True for an invalid `pixi`, or a `colr` without a valid profile or code points. */
function isIgnoredProperty(type: string, fields: Fields): boolean {
  if (type === 'pixi') {
    if (fields.left < 5 || fields.versionAndFlags().version !== 0) return true
    const channels = fields.u8()
    return channels < 1 || channels > 4 || channels > fields.left
  }
  return type === 'colr' && lacksColourInfo(fields)
}

/** Rotations, mirrors and crops. */
export const TRANSFORMATIONS: ReadonlySet<string> = new Set(['clap', 'irot', 'imir'])

const PROFILE_KINDS: ReadonlySet<string> = new Set(['rICC', 'prof'])

/** Colour type of a colr box. */
function kindOf(fields: Fields): string {
  return fields.left >= 4 ? fields.code() : ''
}

function lacksColourInfo(fields: Fields): boolean {
  const kind = kindOf(fields)
  if (!PROFILE_KINDS.has(kind)) return kind !== 'nclx' && kind !== 'nclc'
  const { left } = fields
  return readProfile(fields.take(Math.min(ICC_START_BYTES, left)), left) === null
}

/** Default names that encoders write for images and tracks. Any other name may have been typed by a person. */
const DEFAULT_NAMES: ReadonlySet<string> = new Set(['', 'Color', 'Alpha', 'GMap', 'libavif', 'PICT'])

/** Zeroes a UTF-8 name, unless it is a default, and the bytes after it up to `end`. */
export function nameEdits(fields: Fields, start: number, end: number): Edit[] {
  const name = fields.within(start, end).text()
  return zeroEdits(fields, DEFAULT_NAMES.has(name) ? Math.min(end, start + name.length) : start, end)
}

/** `hdlr` (14496-12, 8.4.3): keeps only the handler type, and a default name. */
function handlerEdits(fields: Fields, { body, end }: Box): Edit[] {
  const nameAt = Math.min(end, body + 24)
  return [
    ...zeroEdits(fields, body + 4, body + 8),
    ...zeroEdits(fields, body + 12, nameAt),
    ...nameEdits(fields, nameAt, end),
  ]
}

/** A `dref` whose only entry is the file itself (14496-12, 8.7.2). */
const OWN_FILE = ascii('\0\0\0\x1cdref\0\0\0\0\0\0\0\x01\0\0\0\x0curl \0\0\0\x01')

const URL_AT = 16

/** Replaces `dinf` by one that refers to the file itself: names of other files may be private. */
function dataReferenceEdits(fields: Fields, { body, end }: Box): Edit[] {
  const length = end - body
  if (length < OWN_FILE.length) return zeroEdits(fields, body, end)
  // Count the remaining bytes as an empty name: after the last box, readers would expect another box.
  const own = OWN_FILE.slice()
  const view = new DataView(own.buffer)
  view.setUint32(0, length)
  view.setUint32(URL_AT, length - URL_AT)
  return [...writeEdits(fields, body, own), ...zeroEdits(fields, body + own.length, end)]
}

/** Zeroes creation and modification time (14496-12, 8.2.2): zero means unknown. */
function timeEdits(fields: Fields, box: Box): Edit[] {
  return zeroEdits(fields, box.body + 4, box.body + 4 + (isWide(fields, box) ? 16 : 8))
}

function isWide(fields: Fields, box: Box): boolean {
  return fields.bodyOf(box).versionAndFlags().version === 1
}

const ONE = 0x10000

function movieHeaderEdits(fields: Fields, box: Box): Edit[] {
  const rateAt = box.body + (isWide(fields, box) ? 32 : 20)
  return [
    ...timeEdits(fields, box),
    ...zeroEdits(fields, rateAt + 6, rateAt + 16),
    ...writeEdits(fields, rateAt + 16, matrixOf([ONE, 0, 0, ONE])),
    ...zeroEdits(fields, rateAt + 52, rateAt + 76),
  ]
}

function trackHeaderEdits(fields: Fields, box: Box): Edit[] {
  const wide = isWide(fields, box)
  const restAt = box.body + (wide ? 36 : 24)
  const idEnd = box.body + (wide ? 24 : 16)
  return [
    ...timeEdits(fields, box),
    ...zeroEdits(fields, idEnd, idEnd + 4),
    // Reserved, layer, group and volume.
    ...zeroEdits(fields, restAt, restAt + 16),
    ...writeEdits(fields, restAt + 16, keptMatrix(fields.within(restAt + 16, restAt + 52))),
  ]
}

/** Keeps quarter turns and mirrors, for viewers that apply them. Any other matrix becomes the identity. */
function keptMatrix(fields: Fields): Uint8Array {
  const [a = 0, b = 0, , c = 0, d = 0] = Array.from({ length: 9 }, () => fields.u32() | 0)
  const isUnit = (value: number) => Math.abs(value) === ONE
  const isTurn =
    (isUnit(a) && isUnit(d) && b === 0 && c === 0) || (isUnit(b) && isUnit(c) && a === 0 && d === 0)
  return matrixOf(isTurn ? [a, b, c, d] : [ONE, 0, 0, ONE])
}

function matrixOf([a, b, c, d]: [a: number, b: number, c: number, d: number]): Uint8Array {
  const bytes = new Uint8Array(36)
  const view = new DataView(bytes.buffer)
  for (const [index, value] of [a, b, 0, c, d, 0, 0, 0, 0x40000000].entries()) view.setInt32(4 * index, value)
  return bytes
}

/** 72 dpi, the value that every writer uses (14496-12, 12.1.3). */
const RESOLUTION = Uint8Array.of(0, 0x48, 0, 0, 0, 0x48, 0, 0)

/** The compressor name that AV1 encoders write, after its length byte. */
const COMPRESSOR = '\nAOM Coding'

/** `av01` (14496-12, 12.1.3.2): zeroes reserved fields and any unusual compressor name, and sets the usual resolution. */
function sampleEntryEdits(fields: Fields, { start }: Box): Edit[] {
  const nameAt = start + 50
  const name = fields.within(nameAt, nameAt + 32).text()
  return [
    ...zeroEdits(fields, start + 8, start + 14),
    ...zeroEdits(fields, start + 16, start + 32),
    ...writeEdits(fields, start + 36, RESOLUTION),
    ...zeroEdits(fields, start + 44, start + 48),
    ...zeroEdits(fields, name === COMPRESSOR ? nameAt + name.length : nameAt, nameAt + 32),
  ]
}

function profileEdits(fields: Fields, box: Box): Edit[] {
  const body = fields.bodyOf(box)
  if (!PROFILE_KINDS.has(kindOf(body))) return []
  const { at, left } = body
  const { edits } = readProfile(body.rest(), left) ?? { edits: [] }
  return edits.flatMap((edit) => writeEdits(fields, at + edit.at, edit.bytes))
}

function countAt(body: Fields, skipped: number): number {
  if (body.left <= skipped) return 0
  body.skip(skipped)
  return body.u8()
}

/** Content colour volume (23008-12, 6.5.x; H.265, D.2.40): primaries and three luminances, each present if its flag is set. */
function colourVolumeBytes(flags: number): number {
  return (flags & 0x20 ? 24 : 0) + (flags & 0x10 ? 4 : 0) + (flags & 0x08 ? 4 : 0) + (flags & 0x04 ? 4 : 0)
}

/** 14496-12, 12.1.5. A profile starts with its own length. */
function colourBytes(body: Fields): number {
  if (body.left < 8) return 0
  const kind = latin1(body.take(4))
  if (kind === 'nclx') return 11
  return kind === 'rICC' || kind === 'prof' ? 4 + body.u32() : 4
}
