/** How different two pictures look, by other people's programs. */
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
 * By libjxl's butteraugli_main: 0 is the same, 1 the edge of what is noticed. The norm says how the picture looks as a whole,
 * the worst spot how it looks where it looks worst. `null` if they have different sizes. `folder`: for the files
 * that the tool reads.
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
  if (worst === undefined || norm === undefined) throw new Error(`butteraugli_main says ${stdout}`)
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
 * By cloudinary's ssimulacra2: 90 can hardly be told apart, 70 is high quality. Both as PNG files of the same size.
 */
export async function ssimulacra2(before: string, after: string): Promise<number> {
  const { stdout } = await run('nice', ['ssimulacra2', before, after])
  const score = Number.parseFloat(stdout)
  if (!Number.isFinite(score)) throw new Error(`ssimulacra2 says ${stdout}`)
  return score
}
