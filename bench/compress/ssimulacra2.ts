/** How alike two pictures look, by cloudinary's ssimulacra2: 90 can hardly be told apart, 70 is high quality. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Both as PNG files of the same size. */
export async function ssimulacra2(before: string, after: string): Promise<number> {
  const { stdout } = await run('nice', ['ssimulacra2', before, after])
  const score = Number.parseFloat(stdout)
  if (!Number.isFinite(score)) throw new Error(`ssimulacra2 says ${stdout}`)
  return score
}
