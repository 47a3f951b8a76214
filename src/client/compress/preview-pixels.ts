/** Pixels of a file that is sent as it is, for its preview alone. Runs in a worker. */
import type { Codecs } from './codecs.ts'
import { oriented, type Pixels } from './pixels.ts'
import type { Facts, Means, ProfileKind } from './plan.ts'
import { decodedByPlatform } from './platform-decoder.ts'

/** As displayed. `null` if nothing here decodes it truly. Throws what a codec throws. */
export async function decodedForPreview(
  file: Blob,
  { jpeg, png, width, height }: Facts,
  profile: Uint8Array | null,
  { codecs, means }: { codecs: Codecs; means: Means },
): Promise<{ pixels: Pixels; profile: Uint8Array | null } | null> {
  const { maxPixels, webAssembly } = means
  if (width * height > maxPixels) return null
  const bytes = async () => new Uint8Array(await file.arrayBuffer())
  if (webAssembly && jpeg && isPlain(jpeg.profile) && jpeg.ordinary && jpeg.precision === 8) {
    if (jpeg.components !== 3) return null
    const pixels = await codecs.decodeJpeg(await bytes())
    return { pixels, profile: jpeg.profile === 'rgb' ? profile : null }
  }
  if (webAssembly && png && isPlain(png.profile) && png.bitDepth <= 8 && !png.specialColour) {
    const pixels = oriented(await codecs.decodePng(await bytes()), png.orientation)
    return { pixels, profile: png.profile === 'rgb' ? profile : null }
  }
  const pixels = await decodedByPlatform(file, { wideColour: false, maxPixels })
  return pixels && { pixels, profile: null }
}

function isPlain(profile: ProfileKind): boolean {
  return profile === 'none' || profile === 'srgb' || profile === 'rgb'
}
