/**
 * Pictures of types that the service does not take: decoded, and made a JPEG, or a lossless WebP where they have
 * transparency. Runs in a worker.
 */
import { Refusal } from '../../errors.ts'
import { isHdrTransfer } from '../../formats/avif/colour.ts'
import { PIECE_BYTES } from '../../formats/image.ts'
import { sniffOther } from '../../formats/sniff.ts'
import { PREVIEW_MAX_BYTES } from '../../protocol.ts'
import { blobSource } from '../blob-source.ts'
import type { ForeignType } from '../types.ts'
import { fineColourShows, restoreChroma } from './chroma.ts'
import type { Codecs } from './codecs.ts'
import { DISPLAY_P3, displayProfile } from './display-profile.ts'
import { rgbProfile } from './icc.ts'
import { isOpaque, type Pixels } from './pixels.ts'
import { MAX_WEBP_SIDE, type Means } from './plan.ts'
import { decodedByPlatform } from './platform.ts'
import { type Milestones, photoOf, type Recompressed, webpOf } from './recompress.ts'

interface ForeignPicture {
  type: ForeignType
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  hasLocation: boolean
  /** Brightness beyond white is in the file, and not in what is made of it. */
  losesHdr: boolean
  /** Throws what a codec throws. */
  convert(milestones: Pick<Milestones, 'decoded' | 'picture'>): Promise<Recompressed>
}

/** Read from the header, before any pixel is decoded. */
interface Facts {
  width: number
  height: number
  hasLocation: boolean
  losesHdr: boolean
  halfChroma: boolean
  /** What the file says of its colours. `null`: sRGB. */
  profile: Uint8Array | null
  /** By a decoder of ours. */
  decode(): Promise<{ pixels: Pixels; profile: Uint8Array | null }>
}

/**
 * `null` if nothing here decodes it. Throws `Refusal`: `damaged-image`, or `unsupported-type` for what would not come out
 * true.
 */
export async function foreignPicture(
  file: Blob,
  codecs: Codecs,
  { webAssembly, maxPixels }: Means,
): Promise<ForeignPicture | null> {
  const head = new Uint8Array(await file.slice(0, PIECE_BYTES).arrayBuffer())
  const type = sniffOther(head)?.type
  if (type === undefined) return null
  if (type === 'image/tiff') return byPlatformAlone(file, codecs, maxPixels)
  const facts = await (type === 'image/heic' ? heicFacts : jxlFacts)(file, codecs)
  const { width, height, hasLocation, losesHdr } = facts
  if (width * height > maxPixels || !webAssembly) return null
  return {
    type,
    width,
    height,
    hasLocation,
    losesHdr,
    async convert(milestones) {
      const start = performance.now()
      const { pixels, profile } = await decode(file, facts, maxPixels)
      milestones.decoded(performance.now() - start)
      return encode(pixels, { profile, halfChroma: facts.halfChroma }, codecs, milestones)
    },
  }
}

/** A canvas multiplies alpha in: what is translucent is decoded by our own decoder. */
async function decode(file: Blob, facts: Facts, maxPixels: number) {
  const wideColour = facts.profile !== null
  const pixels = await decodedByPlatform(file, { wideColour, maxPixels })
  const { width, height } = facts
  if (pixels && pixels.width === width && pixels.height === height && isOpaque(pixels))
    return { pixels, profile: wideColour ? displayProfile(DISPLAY_P3) : null }
  return facts.decode()
}

async function heicFacts(file: Blob, codecs: Codecs): Promise<Facts> {
  const { readHeic } = await import('../../formats/heic/heic.ts')
  const heic = await readHeic(blobSource(file))
  const { width, height, hasLocation, hasGainMap, halfChroma, colour } = heic
  if (isHdrTransfer(colour.transfer) && colour.profile === null) throw hdr('HEIC')
  const profile = rgbProfile(colour.profile ?? displayProfile(colour.primaries))
  return {
    width,
    height,
    hasLocation,
    losesHdr: hasGainMap,
    halfChroma,
    profile,
    decode: async () => ({ pixels: await codecs.decodeHeic(await heic.still()), profile }),
  }
}

async function jxlFacts(file: Blob, codecs: Codecs): Promise<Facts> {
  const { readJxl } = await import('../../formats/jxl.ts')
  const { width, height, animated, isHdr, isSrgb, hasLocation } = await readJxl(blobSource(file))
  if (animated)
    throw new Refusal(
      'unsupported-type',
      'This is an animated JPEG XL image. Please export it as WebP, PNG or GIF.',
    )
  if (isHdr) throw hdr('JPEG XL')
  return {
    width,
    height,
    hasLocation,
    losesHdr: false,
    halfChroma: false,
    profile: isSrgb ? null : displayProfile(DISPLAY_P3),
    decode: async () => ({
      pixels: await codecs.decodeJxl(new Uint8Array(await file.arrayBuffer())),
      profile: null,
    }),
  }
}

/** TIFF, and what cameras write into one: of its size nothing is known before it is decoded. */
async function byPlatformAlone(
  file: Blob,
  codecs: Codecs,
  maxPixels: number,
): Promise<ForeignPicture | null> {
  const pixels = await decodedByPlatform(file, { wideColour: true, maxPixels })
  if (pixels === null) return null
  const { width, height } = pixels
  const profile = displayProfile(DISPLAY_P3)
  return {
    type: 'image/tiff',
    width,
    height,
    // A decoded bitmap says nothing of places.
    hasLocation: false,
    losesHdr: false,
    convert: (milestones) => encode(pixels, { profile, halfChroma: false }, codecs, milestones),
  }
}

async function encode(
  pixels: Pixels,
  { profile, halfChroma }: Pick<Facts, 'profile' | 'halfChroma'>,
  codecs: Codecs,
  { picture }: Pick<Milestones, 'picture'>,
): Promise<Recompressed> {
  let result: Recompressed
  if (isOpaque(pixels)) {
    if (halfChroma) restoreChroma(pixels)
    const fullChroma = !halfChroma && fineColourShows(pixels)
    const bytes = await photoOf(pixels, { fullChroma, gray: false, profile }, codecs)
    result = { bytes, type: 'image/jpeg', action: 'lossy' }
  } else {
    if (Math.max(pixels.width, pixels.height) > MAX_WEBP_SIDE) throw new Error('it is too large for a WebP')
    result = { bytes: await webpOf(pixels, profile, codecs), type: 'image/webp', action: 'lossless' }
  }
  if (result.bytes.length > PREVIEW_MAX_BYTES) await picture(pixels, profile)
  return result
}

function hdr(type: string): Refusal {
  return new Refusal(
    'unsupported-type',
    `This ${type} image is brighter than a JPEG can be (HDR by PQ or HLG). Please export it as JPEG or AVIF.`,
  )
}
