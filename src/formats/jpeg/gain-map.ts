/**
 * A JPEG whose file goes on with a second JPEG, the gain map: Ultra HDR (Android), ISO 21496-1, and Apple's. It is kept
 * where its structure is understood whole; otherwise the first picture alone is kept, which is sound and of ordinary range.
 */
import { Refusal } from '../../errors.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { cutOff } from '../damaged.ts'
import { type ByteSource, bytesOf, lengthOf, type Segment, sourceOf } from '../image.ts'
import {
  type AppleGainMap,
  readAppleGainMap,
  writeAppleGainMap,
  writeAppleMakerNote,
} from '../metadata/apple-gain-map.ts'
import {
  announcesGainMap,
  type GainMapFields,
  readGainMapFields,
  statedGainMapLength,
  writeAnnouncement,
  writeGainMapFields,
} from '../metadata/gain-map-xmp.ts'
import { type MpImage, readMpf, writeMpf } from './mpf.ts'
import { scrubJpeg } from './scrub.ts'
import { type JpegSegment, nameOfKind } from './segments.ts'
import { type Jpeg, walkJpeg } from './walk.ts'

/** A gain map that is understood in at least one way. */
interface GainMap {
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
  if (first.end === source.size) return null
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

const MPF_NAME = nameOfKind('mpf')

/** The parts of both pictures, scrubbed, in separate lists: they may come from separate files. */
export function scrubWithGainMap(
  first: Jpeg,
  { jpeg, fields, iso, apple }: GainMap,
): { first: Segment[]; second: Segment[] } {
  const secondXmp = fields ? writeGainMapFields(fields, apple) : apple && writeAppleGainMap(apple)
  const second = scrubJpeg(jpeg, { xmp: secondXmp, iso: iso?.second })
  const secondLength = lengthOf(second)
  const xmp = fields && writeAnnouncement(secondLength)
  const makerNote = apple && writeAppleMakerNote(apple)
  const withIndex = (mpf: Uint8Array) => scrubJpeg(first, { xmp, iso: iso?.first, makerNote, mpf })

  // The index has the same length whatever it says, so a blank one shows where it will stand.
  const blank = withIndex(writeMpf(0, 0, 0))
  // A file may bring the blank index itself.
  const own = first.segments.find(({ kind }) => kind === 'mpf')
  const at = blank.findIndex((part) => part === own || (part instanceof Uint8Array && isIndex(part)))
  const headerAt = lengthOf(blank.slice(0, at)) + 4 + MPF_NAME.length
  return { first: withIndex(writeMpf(headerAt, lengthOf(blank), secondLength)), second }
}

function isIndex(segment: Uint8Array): boolean {
  return sameBytes(segment.subarray(4, 4 + MPF_NAME.length), MPF_NAME)
}

/**
 * `base`, a JPEG that was encoded anew from the first picture of `original`, with the gain map of `original` behind it:
 * a whole file. `null` if `original` has no gain map, or none that is understood (Ultra HDR, ISO 21496-1, Apple's).
 *
 * `base` may be smaller or coded in any way, but it must show the same part of the scene, stored the same way up as in
 * `original`: the map is laid over the stored pixels, before orientation. If `original` is displayed turned, give `base`
 * an Exif segment with the same orientation. `base` brings its own ICC profile, which must be that of `original`. Of
 * `base`, what the server would remove is removed: comments, XMP and any index of its own.
 *
 * `inspect` of the result finds nothing to remove, so the server stores it as it is. Both files are held in memory.
 * Throws `Refusal('damaged-image')` if either file is damaged.
 */
export async function withGainMapOf(
  base: Uint8Array,
  original: ByteSource,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const first = await walkJpeg(original)
  const gainMap = await findGainMap(original, first)
  if (!gainMap) return null
  const parts = scrubWithGainMap(await walkJpeg(sourceOf(base)), gainMap)
  const file = new Uint8Array(lengthOf(parts.first) + lengthOf(parts.second))
  await copyInto(file, 0, sourceOf(base), parts.first)
  await copyInto(file, lengthOf(parts.first), original, parts.second)
  return file
}

/**
 * Length of the gain map's own JPEG as it would be kept, beside the first picture. `null` as for `withGainMapOf`.
 * Unit: bytes.
 */
export async function gainMapBytesOf(original: ByteSource): Promise<number | null> {
  const first = await walkJpeg(original)
  const gainMap = await findGainMap(original, first)
  return gainMap && lengthOf(scrubWithGainMap(first, gainMap).second)
}

async function copyInto(to: Uint8Array, at: number, source: ByteSource, parts: Segment[]): Promise<void> {
  let next = at
  for await (const piece of bytesOf(source, parts)) {
    to.set(piece, next)
    next += piece.length
  }
}
