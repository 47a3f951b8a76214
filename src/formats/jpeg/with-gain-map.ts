/** Writes a picture and its gain map into one file, with everything in both that refers to the other. */
import { sameBytes } from '../bytes/kept-runs.ts'
import { type ByteSource, bytesOf, lengthOf, type Segment, sourceOf } from '../image.ts'
import { writeAppleGainMap, writeAppleMakerNote } from '../metadata/apple-gain-map.ts'
import { writeAnnouncement, writeGainMapFields } from '../metadata/gain-map-xmp.ts'
import { findGainMap, type GainMap } from './gain-map.ts'
import { MPF_BYTES, writeMpf } from './mpf.ts'
import { scrubJpeg } from './scrub.ts'
import { nameOfKind } from './segments.ts'
import { type Jpeg, walkJpeg } from './walk.ts'

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
  const blank = withIndex(new Uint8Array(MPF_BYTES))
  const at = blank.findIndex((part) => part instanceof Uint8Array && isIndex(part))
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
 * What is written is what the server keeps: `inspect` of the result finds nothing to remove. Both are held in memory.
 * Throws `Refusal('damaged-image')` if either file is damaged.
 */
export async function withGainMapOf(
  base: Uint8Array,
  original: ByteSource,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const first = await walkJpeg(original)
  const gainMap = first.end < original.size ? await findGainMap(original, first) : null
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
  const gainMap = first.end < original.size ? await findGainMap(original, first) : null
  return gainMap && lengthOf(scrubWithGainMap(first, gainMap).second)
}

async function copyInto(to: Uint8Array, at: number, source: ByteSource, parts: Segment[]): Promise<void> {
  let next = at
  for await (const piece of bytesOf(source, parts)) {
    to.set(piece, next)
    next += piece.length
  }
}
