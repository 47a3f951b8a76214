/** Sample files for uploads. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { picture } from '../../support/images/pictures.ts'

export interface ChosenFile {
  name: string
  mimeType: string
  buffer: Buffer
}

/** A high-quality JPEG that compresses well. */
export async function photo(name = 'photo.jpg', seed = 1, width = 320): Promise<ChosenFile> {
  const buffer = await picture({ width, height: Math.round(width * 0.75), seed })
    .jpeg({ quality: 96 })
    .toBuffer()
  return { name, mimeType: 'image/jpeg', buffer }
}

/** A photo with GPS coordinates. */
export async function photoWithPlace(name = 'place.jpg'): Promise<ChosenFile> {
  const buffer = await picture({ width: 320, height: 240, seed: 9 })
    .withExif({ IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' } })
    .jpeg({ quality: 96 })
    .toBuffer()
  return { name, mimeType: 'image/jpeg', buffer }
}

export async function screenshot(name = 'screen.png', seed = 2): Promise<ChosenFile> {
  const buffer = await picture({ width: 200, height: 150, channels: 4, seed })
    .blur(20)
    .png({ compressionLevel: 0 })
    .toBuffer()
  return { name, mimeType: 'image/png', buffer }
}

export async function gif(name = 'loop.gif', seed = 3): Promise<ChosenFile> {
  return { name, mimeType: 'image/gif', buffer: await picture({ seed }).gif().toBuffer() }
}

/** Incompressible, larger than 600 KB. */
export async function largeGif(name: string): Promise<ChosenFile> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
  const buffer = await sharp({ create: { width: 850, height: 700, channels: 3, background: '#000', noise } })
    .gif({ effort: 1, dither: 0 })
    .toBuffer()
  return { name, mimeType: 'image/gif', buffer }
}

/** Header of a phone's HEIC: an ISO media file with brand `heic`. */
export function heic(name = 'IMG_0001.HEIC'): ChosenFile {
  const buffer = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
  return { name, mimeType: 'image/heic', buffer }
}

/** Writes files to a new temporary folder. Names may contain subfolders. */
export async function onDisk(files: ChosenFile[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-web-'))
  for (const { name, buffer } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), buffer)
  }
  return folder
}
