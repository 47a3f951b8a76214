/** JPEGs of noise: valid files, all different, of approximately a given size. */
import sharp, { type SharpOptions } from 'sharp'

/** The sizes that most benches use. */
export const SMALL = { name: '10 KB', bytes: 10_240 }
export const MEDIUM = { name: '200 KB', bytes: 204_800 }
export const LARGE = { name: '2 MB', bytes: 2_097_152 }

interface PictureOptions {
  /** Adds metadata that the server removes: a camera, a location, a comment. */
  withMetadata?: boolean
}

/** Pixels of noise per JPEG byte at the quality below, as measured. */
const PIXELS_PER_BYTE = 1.5
const QUALITY = 85
const LARGE_BYTES = 25_600_000
/** Uncompressed, three bytes per pixel. */
const LARGE_PNG_SIDE = 2940

/** `count` pictures of about `bytes` each. */
export async function noisePictures(
  count: number,
  bytes: number,
  options: PictureOptions = {},
): Promise<Buffer[]> {
  const pictures: Buffer[] = []
  for (let i = 0; i < count; i++) pictures.push(await noisePicture(bytes, options))
  return pictures
}

export async function noisePicture(bytes: number, { withMetadata }: PictureOptions = {}): Promise<Buffer> {
  const side = Math.max(8, Math.round(Math.sqrt(bytes * PIXELS_PER_BYTE)))
  const picture = sharp(noise(side)).jpeg({ quality: QUALITY })
  if (!withMetadata) return picture.toBuffer()
  return picture
    .withExif({
      IFD0: { Make: 'Pinhole', Model: 'Bench', ImageDescription: 'x'.repeat(2000) },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1', GPSLongitudeRef: 'E' },
    })
    .toBuffer()
}

function noise(side: number): SharpOptions {
  return {
    create: {
      width: side,
      height: side,
      channels: 3,
      background: 'grey',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  }
}

/** A PNG and a JPEG, each slightly smaller than the upload limit of 25 MB. */
export async function largePictures(): Promise<Buffer[]> {
  const png = await sharp(noise(LARGE_PNG_SIDE)).png({ compressionLevel: 0 }).toBuffer()
  const jpeg = await noisePicture(LARGE_BYTES)
  return [png, jpeg]
}
