/** Reads a sound JPEG's header, up to the first scan (ITU T.81, annex B). */
import { cursorOver } from '../formats/cursor.ts'
import type { ByteSource } from '../formats/image.ts'
import { openTiff, readIfd } from '../formats/tiff.ts'
import { latin1 } from '../formats/xmp.ts'
import { profileKindOf } from './icc.ts'
import { createProfileCollector } from './jpeg-profile.ts'
import type { JpegFacts } from './plan.ts'

const SOF0 = 0xc0
const SOF1 = 0xc1
const SOF2 = 0xc2
const EOI = 0xd9
const SOS = 0xda
const DQT = 0xdb
const APP1 = 0xe1
const APP2 = 0xe2

/** What the luma table of mozjpeg's quality 90 adds up to: how this engine writes photographs that came as PNG. */
const OWN_PHOTO_TABLE_SUM = 1126

export async function jpegFactsOf(
  source: ByteSource,
): Promise<{ facts: JpegFacts; profile: Uint8Array | null }> {
  const tables = new Map<number, number>()
  const profileShares = createProfileCollector()
  let frame: Frame | null = null
  let gainMap = false
  for await (const { marker, payload } of headerOf(source)) {
    if (isFrame(marker)) frame ??= frameOf(marker, payload)
    else if (marker === DQT) addTables(tables, payload)
    else if (marker === APP1) gainMap ||= isGainMapXmp(payload)
    else if (marker === APP2) {
      gainMap ||= startsWith(payload, 'urn:iso:std:iso:ts:21496') || hasSecondPicture(payload)
      profileShares.add(payload)
    }
  }
  if (frame === null) throw new Error('a JPEG without a frame')
  const profile = profileShares.result()
  const lumaTableSum = tables.get(frame.lumaTable) ?? 0
  const { process, precision, components, fullChroma } = frame
  return {
    facts: {
      ordinary: process === SOF0 || process === SOF1 || process === SOF2,
      precision,
      components,
      fullChroma,
      lumaTableSum,
      ownWork: process === SOF2 && components === 3 && fullChroma && lumaTableSum === OWN_PHOTO_TABLE_SUM,
      gainMap,
      profile: profile === 'broken' ? 'unfit' : profileKindOf(profile),
    },
    profile: profile === 'broken' ? null : profile,
  }
}

async function* headerOf(source: ByteSource): AsyncGenerator<{ marker: number; payload: Uint8Array }> {
  const cursor = cursorOver(source)
  for (let at = 2; at + 4 <= source.size; ) {
    const head = cursor.peek(at, 4) ?? (await cursor.load(at, 4))
    const marker = head[1]!
    // Fill bytes, and markers that stand alone.
    if (head[0] !== 0xff || marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += marker === 0xff || head[0] !== 0xff ? 1 : 2
      continue
    }
    if (marker === SOS || marker === EOI) return
    const length = 2 + head[2]! * 256 + head[3]!
    const segment = cursor.peek(at, length) ?? (await cursor.load(at, length))
    yield { marker, payload: segment.subarray(4, length) }
    at += length
  }
}

interface Frame {
  process: number
  precision: number
  components: number
  fullChroma: boolean
  lumaTable: number
}

/** SOF0 to SOF15, without DHT, JPG and DAC, which share the range. */
function isFrame(marker: number): boolean {
  return marker >= SOF0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function frameOf(process: number, payload: Uint8Array): Frame {
  const components = payload[5] ?? 0
  const factors = Array.from({ length: components }, (_, i) => payload[7 + 3 * i])
  return {
    process,
    precision: payload[0] ?? 0,
    components,
    fullChroma: factors.every((factor) => factor === factors[0]),
    lumaTable: payload[8] ?? 0,
  }
}

function addTables(tables: Map<number, number>, payload: Uint8Array): void {
  for (let at = 0; at < payload.length; ) {
    const wide = payload[at]! >> 4 !== 0
    const id = payload[at]! & 15
    at++
    let sum = 0
    for (let i = 0; i < 64; i++) {
      sum += wide ? (payload[at + 2 * i] ?? 0) * 256 + (payload[at + 2 * i + 1] ?? 0) : (payload[at + i] ?? 0)
    }
    tables.set(id, sum)
    at += wide ? 128 : 64
  }
}

/** Adobe's gain map (namespace prefix hdrgm) and Apple's (HDRGainMap) announce themselves in XMP. */
function isGainMapXmp(payload: Uint8Array): boolean {
  return startsWith(payload, 'http://ns.adobe.com/') && /hdrgm|hdr-gain-map|HDRGainMap/.test(latin1(payload))
}

const MP_ENTRIES = 0xb002
const MP_ENTRY_BYTES = 16
/** Class and subclass of an MP image (CIPA DC-007, 5.2.3.3): large thumbnails, for VGA and full HD screens. */
const PREVIEWS = new Set([0x010001, 0x010002])

/** MPF names more pictures than previews: gain maps, depth, the other eye. Apple marks its gain map only so. */
function hasSecondPicture(payload: Uint8Array): boolean {
  if (!startsWith(payload, 'MPF\0')) return false
  const tiff = openTiff(payload.subarray(4))
  const entries = tiff && readIfd(tiff, tiff.firstIfd).get(MP_ENTRIES)
  if (!tiff || !entries) return false
  for (
    let at = entries.at + MP_ENTRY_BYTES;
    at + MP_ENTRY_BYTES <= entries.at + entries.size;
    at += MP_ENTRY_BYTES
  ) {
    if (!PREVIEWS.has(tiff.u32(at) & 0xffffff)) return true
  }
  return false
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return bytes.length >= text.length && latin1(bytes.subarray(0, text.length)) === text
}
