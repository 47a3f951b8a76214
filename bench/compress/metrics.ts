/** Perceptual difference of two pictures, by external programs. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'

const run = promisify(execFile)

export interface Difference {
  worst: number
  /** The 3-norm over all pixels. */
  norm: number
}

/**
 * Runs libjxl's butteraugli_main. 0: identical, 1: just noticeable. `norm` rates the picture as a whole, `worst` its worst
 * spot. `null` when the sizes differ. `folder`: for temporary files.
 */
export async function butteraugli(before: Buffer, after: Buffer, folder: string): Promise<Difference | null> {
  const [a, b] = await Promise.all([decoded(before), decoded(after)])
  if (a.info.width !== b.info.width || a.info.height !== b.info.height) return null
  if (a.data.equals(b.data)) return { worst: 0, norm: 0 }
  const [first, second] = [join(folder, 'before.png'), join(folder, 'after.png')]
  await writeFile(first, a.data)
  await writeFile(second, b.data)
  const { stdout } = await run('nice', ['butteraugli_main', first, second])
  const [, worst, norm] = /^([\d.e-]+)\s+3-norm: ([\d.e-]+)/.exec(stdout) ?? []
  if (worst === undefined || norm === undefined)
    throw new Error(`unexpected output of butteraugli_main: ${stdout}`)
  return { worst: Number(worst), norm: Number(norm) }
}

async function decoded(image: Buffer) {
  return sharp(image)
    .rotate()
    .flatten({ background: '#fff' })
    .toColourspace('srgb')
    .png({ compressionLevel: 0 })
    .toBuffer({ resolveWithObject: true })
}

/**
 * Runs cloudinary's ssimulacra2. 90: hardly distinguishable, 70: high quality. Takes PNG files of equal size.
 */
export async function ssimulacra2(before: string, after: string): Promise<number> {
  const { stdout } = await run('nice', ['ssimulacra2', before, after])
  const score = Number.parseFloat(stdout)
  if (!Number.isFinite(score)) throw new Error(`unexpected output of ssimulacra2: ${stdout}`)
  return score
}
