/** Pixels of a file that is sent as it is, for its preview alone. Runs in a worker. */
import type { Codecs } from './codecs.ts'
import { profileKindOf } from './icc.ts'
import { oriented, type Pixels } from './pixels.ts'
import type { Facts, JpegFacts, Means, ProfileKind } from './plan.ts'
import { decodedByPlatform } from './platform-decoder.ts'
import { webpProfileOf } from './webp-profile.ts'

interface Decoded {
  pixels: Pixels
  profile: Uint8Array | null
}

/** As displayed. `null` if nothing here decodes it truly. Throws what a codec throws. */
export async function decodedForPreview(
  file: Blob,
  { type, jpeg, png, width, height }: Facts,
  profile: Uint8Array | null,
  { codecs, means }: { codecs: Codecs; means: Means },
): Promise<Decoded | null> {
  const { maxPixels, webAssembly } = means
  if (width * height > maxPixels) return null
  const bytes = async () => new Uint8Array(await file.arrayBuffer())
  if (webAssembly && jpeg && isDecodedTruly(jpeg))
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
  return webAssembly && type === 'image/webp' ? decodedWebp(await bytes(), codecs) : null
}

/** No browser turns a WebP as its Exif says. */
async function decodedWebp(bytes: Uint8Array, codecs: Codecs): Promise<Decoded> {
  const profile = webpProfileOf(bytes)
  return {
    pixels: await codecs.decodeWebp(bytes),
    profile: profileKindOf(profile) === 'rgb' ? profile : null,
  }
}

function isDecodedTruly({ components, ordinary, precision, profile }: JpegFacts): boolean {
  if (!ordinary || precision !== 8) return false
  return components === 1 ? profile !== 'unfit' && profile !== 'rgb' : components === 3 && isPlain(profile)
}

function isPlain(profile: ProfileKind): boolean {
  return profile === 'none' || profile === 'srgb' || profile === 'rgb'
}

function keptOf(kind: ProfileKind, profile: Uint8Array | null): Uint8Array | null {
  return kind === 'rgb' || kind === 'gray' ? profile : null
}
