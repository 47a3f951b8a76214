/** What FILE on the command line stands for. */
import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { glob, isDynamicPattern } from 'tinyglobby'
import { CommandError } from '../exit.ts'

export interface Input {
  /** For people: the path as given, or one with today's time for what comes by stdin. */
  name: string
  /** Rejects with a `CommandError`, or with the signal's reason. */
  read(signal: AbortSignal): Promise<Blob>
}

/** More than any image that is still under 25 MB after compression. Unit: bytes. */
const MAX_INPUT_BYTES = 256 * 2 ** 20

/** Includes types that the service does not take: those that can't be converted are reported one by one. */
const PICTURES = new Set(
  '.jpg .jpeg .jpe .jfif .png .apng .gif .webp .avif .heic .heif .hif .jxl .tif .tiff .bmp'.split(' '),
)

export function isPicture(path: string): boolean {
  return PICTURES.has(extname(path).toLowerCase()) && !basename(path).startsWith('.')
}

/**
 * `-` is stdin. A path that exists is itself, even with a `*` in it; other patterns are globs, as quoted ones are.
 * `recursive`: a folder stands for the pictures in it and below, by their extension.
 */
export async function expandInputs(args: string[], recursive = false): Promise<Input[]> {
  const inputs: Input[] = []
  for (const word of args) {
    const stats = await stat(word).catch(() => null)
    if (word === '-') {
      inputs.push({ name: timestampedName(), read: (signal) => readBounded(process.stdin, signal, true) })
    } else if (recursive && stats?.isDirectory()) {
      const below = await picturesIn(word)
      inputs.push(...below.sort((a, b) => (a.name < b.name ? -1 : 1)))
    } else if (!stats && isDynamicPattern(word)) {
      const paths = await glob(word, { expandDirectories: false })
      if (paths.length === 0) inputs.push(fileInput(word))
      inputs.push(...paths.sort().map(fileInput))
    } else {
      inputs.push(fileInput(word))
    }
  }
  return inputs
}

/** Pictures in a folder and below, but for hidden ones. A folder that can't be read is an input whose `read` rejects. */
async function picturesIn(folder: string): Promise<Input[]> {
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (error) {
    return [{ name: folder, read: () => Promise.reject(unreadable(error)) }]
  }
  const found = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return picturesIn(path)
      return entry.isFile() && isPicture(path) ? [fileInput(path)] : []
    })
  return (await Promise.all(found)).flat()
}

function unreadable(error: unknown): CommandError {
  return new CommandError('file', `It can't be read (${(error as NodeJS.ErrnoException).code ?? error}).`, {
    cause: error,
  })
}

/** E.g. `pinhole 2026-11-21 at 23.48.05`, by the clock on the wall. */
function timestampedName(): string {
  const [date, time = ''] = new Date().toLocaleString('sv-SE').split(' ')
  return `pinhole ${date} at ${time.replaceAll(':', '.')}`
}

export function fileInput(path: string): Input {
  return {
    name: path,
    async read(signal) {
      const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw unreadable(error)
        throw new CommandError('file', 'There is no such file.', { cause: error })
      })
      if (stats.isDirectory()) {
        throw new CommandError('file', `This is a folder. Add -r for all pictures in it, or name its files.`)
      }
      return readBounded(createReadStream(path), signal)
    },
  }
}

async function readBounded(stream: Readable, signal: AbortSignal, isStdin = false): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  try {
    for await (const part of addAbortSignal(signal, stream)) {
      bytes += part.length
      if (bytes > MAX_INPUT_BYTES)
        throw new CommandError('file', 'It is larger than 256 MB, the most that this command reads.')
      parts.push(part)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CommandError) throw error
    throw unreadable(error)
  }
  if (bytes === 0) throw new CommandError('file', isStdin ? 'stdin is empty.' : 'The file is empty.')
  return new Blob(parts)
}
