/**
 * JPEG files with a gain map as a second JPEG after the primary image: Ultra HDR (Android), ISO 21496-1, and Apple's. The
 * gain map is kept only if its whole structure is understood; otherwise the primary image alone is kept, a valid SDR image.
 */
import { concatBytes } from '../../bytes.ts'
import { Refusal } from '../../errors.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { cutOff } from '../damaged.ts'
import { type ByteSource, lengthOf, memorySource, readAll, type Segment } from '../image.ts'
import {
  type AppleGainMap,
  readAppleGainMap,
  writeAppleGainMap,
  writeAppleMakerNote,
} from '../metadata/apple-gain-map.ts'
import {
  announcesGainMap,
  declaredGainMapLength,
  type GainMapFields,
  readGainMapFields,
  writeAnnouncement,
  writeGainMapFields,
} from '../metadata/gain-map-xmp.ts'
import { type MpImage, readMpf, writeMpf } from './mpf.ts'
import { scrubJpeg } from './scrub.ts'
import { identifierOf } from './segments.ts'
import { type Jpeg, walkJpeg } from './walk.ts'

/** A gain map in at least one of the three known formats. */
interface GainMap {
  /** Its own JPEG, walked. */
  jpeg: Jpeg
  /** Adobe's and Android's properties. */
  fields?: GainMapFields
  /** Bodies of the ISO 21496-1 segments in both images. */
  iso?: { first: Uint8Array; second: Uint8Array }
  apple?: AppleGainMap
}

function bodyOf(jpeg: Jpeg, wanted: 'mpf' | 'gain-map'): { body: Uint8Array; at: number } | undefined {
  const segment = jpeg.segments.find(({ kind }) => kind === wanted)
  if (!segment?.body) return undefined
  const name = identifierOf(wanted).length
  return { body: segment.body.subarray(name), at: segment.bodyAt + name }
}

/** The images listed after the primary one, in file order. */
function listedImages(jpeg: Jpeg, fileBytes: number): MpImage[] {
  const index = bodyOf(jpeg, 'mpf')
  const listed = index ? readMpf(index.body, index.at) : []
  const length = declaredGainMapLength(jpeg.xmp)
  // Use the length in the XMP even if there is an index: editors that move bytes may break one and preserve the other.
  if (length !== undefined && (!index || jpeg.end + length <= fileBytes))
    listed.push({ start: jpeg.end, length })
  return listed.filter(({ start }) => start >= jpeg.end).sort((a, b) => a.start - b.start)
}

/**
 * The gain map after the primary image. `null` when there is none, or none in a known format. Throws
 * `Refusal('damaged-image')` when the file ends inside a listed image.
 */
export async function findGainMap(source: ByteSource, first: Jpeg): Promise<GainMap | null> {
  if (first.end === source.size) return null
  let found: GainMap | null = null
  let lastEnd = first.end
  for (const { start, length } of listedImages(first, source.size)) {
    // Editors that move bytes leave stale offsets in the list.
    if (start < lastEnd || !startsImage(await source.read(start, 3))) continue
    if (start + length > source.size) throw cutOff('JPEG')
    lastEnd = start + length
    found ??= await readGainMap(source, first, start, lastEnd)
  }
  return found
}

function startsImage(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff
}

/** Reads the JPEG between two offsets. `null` when it is not a gain map. */
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
  // In the primary image, the segment holds only the two version numbers.
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

const MPF_NAME = identifierOf('mpf')

/** The scrubbed segments of both images, in separate lists because they may come from separate files. */
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

  // The length of the index does not depend on its contents, so a blank index determines its offset.
  const blank = withIndex(writeMpf(0, 0, 0))
  // The source may already contain the blank index, in which case it is kept as is.
  const own = first.segments.find(({ kind }) => kind === 'mpf')
  const at = blank.findIndex((part) => part === own || (part instanceof Uint8Array && isIndex(part)))
  const headerAt = lengthOf(blank.slice(0, at)) + 4 + MPF_NAME.length
  return { first: withIndex(writeMpf(headerAt, lengthOf(blank), secondLength)), second }
}

function isIndex(segment: Uint8Array): boolean {
  return segment[0] === 0xff && sameBytes(segment.subarray(4, 4 + MPF_NAME.length), MPF_NAME)
}

/**
 * A complete file: `base`, a JPEG re-encoded from the primary image of `original`, followed by the gain map of `original`.
 * `null` when `original` has no gain map, or none in a known format (Ultra HDR, ISO 21496-1, Apple's).
 *
 * `base` may have any size and coding, but must have the same framing and stored orientation as `original`: the gain map
 * applies to the stored pixels, before orientation. If `original` has an Exif orientation, give `base` an Exif segment with
 * the same one. `base` must contain the ICC profile of `original`. Everything the server would strip from `base` is
 * stripped: comments, XMP and any index of its own.
 *
 * `inspect` finds nothing to remove in the result, so the server stores it unchanged. Both files are held in memory.
 * Throws `Refusal('damaged-image')` when either file is damaged.
 */
export async function withGainMapOf(
  base: Uint8Array,
  original: ByteSource,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const first = await walkJpeg(original)
  const gainMap = await findGainMap(original, first)
  if (!gainMap) return null
  const parts = scrubWithGainMap(await walkJpeg(memorySource(base)), gainMap)
  return concatBytes(await readAll(memorySource(base), parts.first), await readAll(original, parts.second))
}
