/** Reproducible archives: their bytes depend only on their contents. */
import { execFile, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { ROOT } from './packages/paths.ts'

const run = promisify(execFile)

/** Time of the last source change, for files and packages that need a timestamp. Unit: seconds since 1970. */
export async function sourceDate(): Promise<number> {
  if (process.env.SOURCE_DATE_EPOCH) return Number(process.env.SOURCE_DATE_EPOCH)
  const { stdout } = await run('git', ['log', '-1', '--format=%ct'], { cwd: ROOT }).catch(() => ({
    stdout: '0',
  }))
  return Number(stdout)
}

/** Packs `names` of `folder` into the .tar.gz `file`, owned by root and dated `date`. */
export async function packTar(file: string, folder: string, names: string[], date: number): Promise<void> {
  const options = [
    '--sort=name',
    `--mtime=@${date}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=gnu',
  ]
  const tar = spawn('tar', [...options, '-C', folder, '-cf', '-', ...names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve, reject) => {
    tar.once('error', reject)
    tar.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar exited with ${code}`))))
  })
  await Promise.all([pipeline(tar.stdout, createGzip({ level: 9 }), createWriteStream(file)), ended])
}
