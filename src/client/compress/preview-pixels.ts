/** Decodes a file that is sent without recompression, for its preview. Runs in a worker. */
import { isHdrTransfer } from '../../formats/avif/colour.ts'
import { memorySource } from '../../formats/image.ts'
import type { Codecs } from './codecs.ts'
import { displayProfile } from './display-profile.ts'
import { rgbProfile } from './icc.ts'
import { oriented, type Pixels } from './pixels.ts'
import type { Capabilities, Facts, JpegFacts, ProfileKind } from './plan.ts'
import { decodedByPlatform } from './platform.ts'
import { webpProfileOf } from './webp-profile.ts'

interface Decoded {
  pixels: Pixels
  profile: Uint8Array | null
}

/** The pixels as displayed. `null` if no decoder here is faithful. Rejects with a codec's error. */
export async function decodedForPreview(
  file: Blob,
  { type, jpeg, png, width, height }: Facts,
  profile: Uint8Array | null,
  { codecs, capabilities }: { codecs: Codecs; capabilities: Capabilities },
): Promise<Decoded | null> {
  const { maxPixels, webAssembly } = capabilities
  if (width * height > maxPixels) return null
  const bytes = async () => new Uint8Array(await file.arrayBuffer())
  if (webAssembly && jpeg && decodesFaithfully(jpeg))
    return {
      pixels: await codecs.decodeJpeg(await bytes()),
      profile: keptOf(jpeg.profile, profile),
    }
  if (webAssembly && png && isPlain(png.profile) && !png.specialColour) {
    return {
      pixels: oriented(await codecs.decodePng(await bytes()), png.orientation),
      profile: keptOf(png.profile, profile),
    }
  }
  const pixels = await decodedByPlatform(file, { wideColour: false, maxPixels })
  if (pixels) return { pixels, profile: null }
  if (!webAssembly) return null
  if (type === 'image/webp') return decodedWebp(await bytes(), codecs)
  return type === 'image/avif' && codecs.decodeAvif ? decodedAvif(await bytes(), codecs.decodeAvif) : null
}

/** `null` for HDR, which would come out dull. */
async function decodedAvif(
  bytes: Uint8Array,
  decode: NonNullable<Codecs['decodeAvif']>,
): Promise<Decoded | null> {
  const { readStill } = await import('../../formats/avif/still.ts')
  const still = await readStill(memorySource(bytes))
  if (still === null || isHdrTransfer(still.colour.transfer)) return null
  const { colour, orientations } = still
  return {
    pixels: orientations.reduce(oriented, await decode(bytes)),
    profile: rgbProfile(colour.profile ?? displayProfile(colour.primaries)),
  }
}

/** Ignores Exif orientation, as all browsers do for WebP. */
async function decodedWebp(bytes: Uint8Array, codecs: Codecs): Promise<Decoded> {
  return { pixels: await codecs.decodeWebp(bytes), profile: rgbProfile(webpProfileOf(bytes)) }
}

function decodesFaithfully({ components, isStandardCoding, precision, profile }: JpegFacts): boolean {
  if (!isStandardCoding || precision !== 8) return false
  return components === 1 ? profile !== 'unusable' && profile !== 'rgb' : components === 3 && isPlain(profile)
}

function isPlain(profile: ProfileKind): boolean {
  return profile === 'none' || profile === 'srgb' || profile === 'rgb'
}

function keptOf(kind: ProfileKind, profile: Uint8Array | null): Uint8Array | null {
  return kind === 'rgb' || kind === 'gray' ? profile : null
}
