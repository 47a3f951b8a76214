/**
 * Converts images of types that the service does not accept to JPEG, or to lossless WebP if they have transparency. Runs in a
 * worker.
 */
import { Refusal } from '../../errors.ts'
import { isHdrTransfer } from '../../formats/avif/colour.ts'
import { CHUNK_BYTES } from '../../formats/image.ts'
import { sniffUnsupported } from '../../formats/sniff.ts'
import { PREVIEW_MAX_BYTES } from '../../protocol.ts'
import { blobSource } from '../blob-source.ts'
import type { ForeignType } from '../types.ts'
import { fineColourShare, restoreChroma } from './chroma.ts'
import type { Codecs } from './codecs.ts'
import { DISPLAY_P3, displayProfile } from './display-profile.ts'
import { rgbProfile } from './icc.ts'
import { loaded } from './load-fault.ts'
import { isOpaque, type Pixels } from './pixels.ts'
import { type Capabilities, MAX_WEBP_SIDE } from './plan.ts'
import { decodedByPlatform } from './platform.ts'
import { encodePhoto, type Milestones, type Recompressed, webpOf } from './recompress.ts'

interface ForeignHeader {
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  hasLocation: boolean
  /** The file is HDR, and the result won't be. */
  losesHdr: boolean
}

interface ForeignImage extends ForeignHeader {
  type: ForeignType
  /** Rejects with a codec's error. */
  convert(milestones: Pick<Milestones, 'decoded' | 'previewSource'>): Promise<Recompressed>
}

/** Read from the header before decoding. */
interface Facts extends ForeignHeader {
  halfChroma: boolean
  /** The file's colour profile. `null`: sRGB. */
  profile: Uint8Array | null
  /** Decodes with our own codec instead of the platform's. */
  decode(): Promise<{ pixels: Pixels; profile: Uint8Array | null }>
}

/**
 * `null` if no decoder here supports the file. Throws `Refusal`: `damaged-image`, or `unsupported-type` if the conversion would
 * not be faithful.
 */
export async function openForeign(
  file: Blob,
  codecs: Codecs,
  { webAssembly, maxPixels }: Capabilities,
): Promise<ForeignImage | null> {
  const head = new Uint8Array(await file.slice(0, CHUNK_BYTES).arrayBuffer())
  const type = sniffUnsupported(head)?.type
  if (type === undefined) return null
  if (type === 'image/tiff') return tiffByPlatform(file, codecs, maxPixels)
  const facts = await (type === 'image/heic' ? heicFacts : jxlFacts)(file, codecs)
  if (facts.width * facts.height > maxPixels || !webAssembly) return null
  return {
    ...facts,
    type,
    async convert(milestones) {
      const start = performance.now()
      const { pixels, profile } = await decode(file, facts, maxPixels)
      milestones.decoded(performance.now() - start)
      return encode(pixels, { profile, halfChroma: facts.halfChroma }, codecs, milestones)
    },
  }
}

/** Prefers the platform's decoder. A canvas premultiplies alpha, so translucent images are decoded by our own codec. */
async function decode(file: Blob, facts: Facts, maxPixels: number) {
  const wideColour = facts.profile !== null
  const pixels = await decodedByPlatform(file, { wideColour, maxPixels })
  const { width, height } = facts
  if (pixels && pixels.width === width && pixels.height === height && isOpaque(pixels))
    return { pixels, profile: wideColour ? displayProfile(DISPLAY_P3) : null }
  return facts.decode()
}

async function heicFacts(file: Blob, codecs: Codecs): Promise<Facts> {
  const { readHeic } = await loaded(import('../../formats/heic/heic.ts'))
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
  const { readJxl } = await loaded(import('../../formats/jxl.ts'))
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

/** TIFF and TIFF-based camera files. Their size is unknown until the platform has decoded them. */
async function tiffByPlatform(file: Blob, codecs: Codecs, maxPixels: number): Promise<ForeignImage | null> {
  const pixels = await decodedByPlatform(file, { wideColour: true, maxPixels })
  if (pixels === null) return null
  const { width, height } = pixels
  const profile = displayProfile(DISPLAY_P3)
  return {
    type: 'image/tiff',
    width,
    height,
    // Unknown: only the decoded bitmap is available.
    hasLocation: false,
    losesHdr: false,
    convert: (milestones) => encode(pixels, { profile, halfChroma: false }, codecs, milestones),
  }
}

async function encode(
  pixels: Pixels,
  { profile, halfChroma }: Pick<Facts, 'profile' | 'halfChroma'>,
  codecs: Codecs,
  { previewSource }: Pick<Milestones, 'previewSource'>,
): Promise<Recompressed> {
  let result: Recompressed
  if (isOpaque(pixels)) {
    if (halfChroma) restoreChroma(pixels)
    const fineColour = halfChroma ? 0 : fineColourShare(pixels)
    const bytes = await encodePhoto(pixels, { fineColour, gray: false, profile }, codecs)
    result = { bytes, type: 'image/jpeg', action: 'lossy' }
  } else {
    if (Math.max(pixels.width, pixels.height) > MAX_WEBP_SIDE)
      throw new Error('the image is too large for WebP')
    result = { bytes: await webpOf(pixels, profile, codecs), type: 'image/webp', action: 'lossless' }
  }
  if (result.bytes.length > PREVIEW_MAX_BYTES) await previewSource(pixels, profile)
  return result
}

function hdr(type: string): Refusal {
  return new Refusal(
    'unsupported-type',
    `This ${type} image is HDR (PQ or HLG), which a JPEG can't represent. Please export it as JPEG or AVIF.`,
  )
}
