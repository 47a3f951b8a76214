/** How different two pictures look, by Debian's butteraugli: 0 is the same, 1 the edge of what is noticed. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'

const run = promisify(execFile)

/** `null` if they have different sizes. `folder`: for the files that the tool reads. */
export async function butteraugli(before: Buffer, after: Buffer, folder: string): Promise<number | null> {
  const [a, b] = await Promise.all([decoded(before), decoded(after)])
  if (a.info.width !== b.info.width || a.info.height !== b.info.height) return null
  if (a.data.equals(b.data)) return 0
  const [first, second] = [join(folder, 'before.png'), join(folder, 'after.png')]
  await writeFile(first, a.data)
  await writeFile(second, b.data)
  const { stdout } = await run('nice', ['butteraugli', first, second])
  return Number.parseFloat(stdout)
}

async function decoded(image: Buffer) {
  return sharp(image)
    .rotate()
    .flatten({ background: '#fff' })
    .toColourspace('srgb')
    .png({ compressionLevel: 0 })
    .toBuffer({ resolveWithObject: true })
}
