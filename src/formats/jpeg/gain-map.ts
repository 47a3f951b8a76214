/**
 * A JPEG whose file goes on with a second JPEG, the gain map: Ultra HDR (Android), ISO 21496-1, and Apple's. It is kept
 * where its structure is understood whole; otherwise the first picture alone is kept, which is sound and of ordinary range.
 */
import { Refusal } from '../../errors.ts'
import { cutOff } from '../damaged.ts'
import type { ByteSource } from '../image.ts'
import { type AppleGainMap, readAppleGainMap } from '../metadata/apple-gain-map.ts'
import {
  announcesGainMap,
  type GainMapFields,
  readGainMapFields,
  statedGainMapLength,
} from '../metadata/gain-map-xmp.ts'
import { type MpImage, readMpf } from './mpf.ts'
import { type JpegSegment, nameOfKind } from './segments.ts'
import { type Jpeg, walkJpeg } from './walk.ts'

/** A gain map that is understood in at least one way. */
export interface GainMap {
  /** Its own JPEG, walked. */
  jpeg: Jpeg
  /** Adobe's and Android's properties. */
  fields?: GainMapFields
  /** Bodies of the ISO 21496-1 segments in both pictures. */
  iso?: { first: Uint8Array; second: Uint8Array }
  apple?: AppleGainMap
}

function bodyOf(jpeg: Jpeg, wanted: 'mpf' | 'gain-map'): { body: Uint8Array; at: number } | undefined {
  const segment = jpeg.segments.find(({ kind }) => kind === wanted)
  if (!segment?.body) return undefined
  const name = nameOfKind(wanted).length
  return { body: segment.body.subarray(name), at: startOfBody(segment) + name }
}

/** In the file. Fill bytes may stand before the marker. */
function startOfBody({ offset, length, body }: JpegSegment): number {
  return offset + length - (body?.length ?? 0)
}

/** The images that the file says follow the first, in order. */
function laterImages(jpeg: Jpeg, fileBytes: number): MpImage[] {
  const index = bodyOf(jpeg, 'mpf')
  const listed = index ? readMpf(index.body, index.at) : []
  const length = statedGainMapLength(jpeg.xmp)
  // Beside an index the packet's length is a second chance: editors that move bytes may keep the one and break the other.
  if (length !== undefined && (!index || jpeg.end + length <= fileBytes))
    listed.push({ start: jpeg.end, length })
  return listed.filter(({ start }) => start >= jpeg.end).sort((a, b) => a.start - b.start)
}

/**
 * The gain map behind the first picture. `null` if there is none, or none that is understood. Throws
 * `Refusal('damaged-image')` if the file ends inside an image that it lists.
 */
export async function findGainMap(source: ByteSource, first: Jpeg): Promise<GainMap | null> {
  let found: GainMap | null = null
  let free = first.end
  for (const { start, length } of laterImages(first, source.size)) {
    // An editor that moved bytes leaves a list that points nowhere.
    if (start < free || !startsImage(await source.read(start, 3))) continue
    if (start + length > source.size) throw cutOff('JPEG')
    free = start + length
    found ??= await readGainMap(source, first, start, free)
  }
  return found
}

function startsImage(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff
}

/** The gain map at a place in the file. `null` if what stands there is not one. */
async function readGainMap(
  source: ByteSource,
  first: Jpeg,
  start: number,
  end: number,
): Promise<GainMap | null> {
  try {
    const jpeg = await walkJpeg(source, start, end)
    const fields = (announcesGainMap(first.xmp) && readGainMapFields(jpeg.xmp)) || undefined
    const iso = isoOf(first, jpeg)
    const apple = readAppleGainMap(jpeg.xmp, first.exif.makerNote)
    return fields || iso || apple ? { jpeg, fields, iso, apple } : null
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

function isoOf(first: Jpeg, second: Jpeg): GainMap['iso'] {
  const version = bodyOf(first, 'gain-map')?.body
  const metadata = bodyOf(second, 'gain-map')?.body
  // In the first picture the segment holds the two versions alone.
  if (version?.length !== 4 || !metadata || !isIsoMetadata(metadata)) return undefined
  return { first: version, second: metadata }
}

/** ISO 21496-1, annex C: two versions, flags, then fractions for one or three channels. */
function isIsoMetadata(metadata: Uint8Array): boolean {
  const [, , , , flags] = metadata
  if (flags === undefined) return false
  const channels = flags & 0x80 ? 3 : 1
  const hasCommonDenominator = (flags & 0x08) !== 0
  return metadata.length === (hasCommonDenominator ? 5 + 4 + 8 + channels * 20 : 5 + 16 + channels * 40)
}
