/**
 * Ultra HDR: a JPEG whose file goes on with a second JPEG, the gain map. It is kept where its structure is understood
 * whole; otherwise the first picture alone is kept, which is a sound picture of ordinary range.
 */
import { Refusal } from '../../errors.ts'
import { sameBytes } from '../bytes/kept-runs.ts'
import { cutOff } from '../damaged.ts'
import { type ByteSource, lengthOf } from '../image.ts'
import {
  announcesGainMap,
  type GainMapFields,
  readGainMapFields,
  statedGainMapLength,
  writeAnnouncement,
  writeGainMapFields,
} from '../metadata/gain-map-xmp.ts'
import { MPF_BYTES, type MpImage, readMpf, writeMpf } from './mpf.ts'
import { type JpegPart, scrubJpeg } from './scrub.ts'
import { type JpegSegment, nameOfKind } from './segments.ts'
import { type Jpeg, walkJpeg } from './walk.ts'

const MPF_NAME = nameOfKind('mpf')
const ISO_NAME = nameOfKind('gain-map')

function only(jpeg: Jpeg, kind: 'mpf' | 'gain-map'): JpegSegment | undefined {
  return jpeg.segments.find((segment) => segment.kind === kind)
}

/** Where a segment's body starts in the file. */
function bodyAt(segment: JpegSegment): number {
  return segment.offset + segment.length - segment.body!.length
}

/** The images that the file says follow the first. */
function laterImages(jpeg: Jpeg): MpImage[] {
  const mpf = only(jpeg, 'mpf')
  if (mpf) {
    const index = mpf.body!.subarray(MPF_NAME.length)
    const images = readMpf(index, bodyAt(mpf) + MPF_NAME.length)
    return images.filter(({ start }) => start >= jpeg.end).sort((a, b) => a.start - b.start)
  }
  const length = statedGainMapLength(jpeg.xmp)
  return length === undefined ? [] : [{ start: jpeg.end, length, isPreview: false }]
}

/** True if the first picture says that it has a gain map. */
function announced(jpeg: Jpeg): boolean {
  return only(jpeg, 'gain-map') !== undefined || announcesGainMap(jpeg.xmp)
}

/** A gain map that is understood: by its XMP, by ISO 21496-1, or both. */
export interface GainMap {
  jpeg: Jpeg
  fields?: GainMapFields
  iso: boolean
}

/**
 * The gain map behind the first picture. `null` if there is none, or none that is understood. Throws
 * `Refusal('damaged-image')` if the file ends inside an image that it lists.
 */
export async function findGainMap(source: ByteSource, first: Jpeg): Promise<GainMap | null> {
  let found: GainMap | null = null
  let free = first.end
  for (const { start, length } of laterImages(first)) {
    // An editor that moved bytes leaves a list that points nowhere.
    if (start < free || !startsImage(await source.read(start, 3))) continue
    if (start + length > source.size) throw cutOff('JPEG')
    free = start + length
    if (!found && announced(first)) found = await readGainMap(source, first, start, free)
  }
  return found
}

function startsImage(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff
}

async function readGainMap(
  source: ByteSource,
  first: Jpeg,
  start: number,
  end: number,
): Promise<GainMap | null> {
  try {
    const jpeg = await walkJpeg(source, start, end)
    const fields = (announcesGainMap(first.xmp) && readGainMapFields(jpeg.xmp)) || undefined
    const iso = isIsoVersion(only(first, 'gain-map')) && isIsoMetadata(only(jpeg, 'gain-map'))
    return fields || iso ? { jpeg, fields, iso } : null
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** ISO 21496-1, annex C: two versions, flags, then fractions for one or three channels. */
function isIsoMetadata(segment: JpegSegment | undefined): boolean {
  const metadata = segment?.body?.subarray(ISO_NAME.length)
  if (!metadata || metadata.length < 5) return false
  const channels = metadata[4]! & 0x80 ? 3 : 1
  const common = (metadata[4]! & 0x08) !== 0
  return metadata.length === (common ? 5 + 4 + 8 + channels * 20 : 5 + 16 + channels * 40)
}

/** In the first picture the segment holds the two versions alone. */
function isIsoVersion(segment: JpegSegment | undefined): boolean {
  return segment?.body?.length === ISO_NAME.length + 4
}

/** Both pictures, scrubbed, the first with an index that fits. */
export function scrubWithGainMap(first: Jpeg, { jpeg, fields, iso }: GainMap): JpegPart[] {
  const second = scrubJpeg(jpeg, { xmp: fields && writeGainMapFields(fields), iso })
  const secondLength = lengthOf(second)
  const xmp = fields && writeAnnouncement(secondLength)
  const withIndex = (mpf: Uint8Array) => scrubJpeg(first, { xmp, iso, mpf })

  // The index has the same length whatever it says, so a blank one shows where it will stand.
  const blank = withIndex(new Uint8Array(MPF_BYTES))
  const at = blank.findIndex((part) => part instanceof Uint8Array && isIndex(part))
  const headerAt = lengthOf(blank.slice(0, at)) + 4 + MPF_NAME.length
  return [...withIndex(writeMpf(headerAt, lengthOf(blank), secondLength)), ...second]
}

function isIndex(segment: Uint8Array): boolean {
  return sameBytes(segment.subarray(4, 4 + MPF_NAME.length), MPF_NAME)
}
