/** Expands FILE arguments: paths, folders, globs and stdin. */
import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { glob } from 'tinyglobby'
import { CommandError } from '../exit.ts'

export interface Input {
  /** Display name: the path as given, or a timestamped name for stdin. */
  name: string
  /** Rejects with a `CommandError`, or with the signal's reason. */
  read(signal: AbortSignal): Promise<Blob>
}

/** Larger than any image that compresses to less than the upload limit. */
const MAX_INPUT_BYTES = 256 * 2 ** 20

/** Includes types that the service does not accept: a file that can't be converted is reported. */
const IMAGE_EXTENSIONS = new Set(
  '.jpg .jpeg .jpe .jfif .png .apng .gif .webp .avif .heic .heif .hif .jxl .tif .tiff .bmp'.split(' '),
)

export function isImageFile(path: string): boolean {
  return IMAGE_EXTENSIONS.has(extname(path).toLowerCase()) && !basename(path).startsWith('.')
}

/**
 * `-` is stdin. An existing path is taken literally, even if it contains `*`; otherwise `*` and `?` match as in a shell.
 * `recursive`: a folder expands to the images in it and its subfolders, by extension.
 */
export async function expandInputs(args: string[], recursive = false): Promise<Input[]> {
  const inputs: Input[] = []
  for (const arg of args) {
    const stats = await stat(arg).catch(() => null)
    if (arg === '-') {
      inputs.push({ name: timestampedName(), read: (signal) => readBounded(process.stdin, signal, true) })
    } else if (recursive && stats?.isDirectory()) {
      const images = await imagesIn(arg)
      inputs.push(...images.sort((a, b) => (a.name < b.name ? -1 : 1)))
    } else if (!stats && /[*?]/.test(arg)) {
      // Brackets are part of names: `photo [1].png` and `photo (1).png` must not become `photo 1.png`.
      const paths = await glob(arg.replaceAll(/[()[\]{}]/g, '\\$&'), { expandDirectories: false })
      if (paths.length === 0) inputs.push(fileInput(arg))
      inputs.push(...paths.sort().map(fileInput))
    } else {
      inputs.push(fileInput(arg))
    }
  }
  return inputs
}

/**
 * Images in a folder and its subfolders, except hidden ones. Follows links to images, not to folders, which may form a circle. An
 * unreadable folder becomes an input whose `read` rejects.
 */
async function imagesIn(folder: string): Promise<Input[]> {
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (error) {
    return [{ name: folder, read: () => Promise.reject(unreadable('folder', error)) }]
  }
  const found = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return imagesIn(path)
      const isFile = entry.isFile() || entry.isSymbolicLink()
      return isFile && isImageFile(path) ? [fileInput(path)] : []
    })
  return (await Promise.all(found)).flat()
}

function unreadable(kind: 'file' | 'folder', error: unknown): CommandError {
  const reason = (error as NodeJS.ErrnoException).code ?? error
  return new CommandError('file', `This ${kind} can't be read (${reason}).`, { cause: error })
}

/** E.g. `pinhole 2026-11-21 at 23.48.05`, in local time. */
function timestampedName(): string {
  const [date, time = ''] = new Date().toLocaleString('sv-SE').split(' ')
  return `pinhole ${date} at ${time.replaceAll(':', '.')}`
}

export function fileInput(path: string): Input {
  return {
    name: path,
    async read(signal) {
      const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw unreadable('file', error)
        // Node replaces bytes that are not UTF-8, and then finds no such file.
        const advice = path.includes('\ufffd') ? ' Its name is not UTF-8: use - for stdin instead.' : ''
        throw new CommandError('file', `File not found.${advice}`, { cause: error })
      })
      if (stats.isDirectory()) {
        throw new CommandError('file', 'This is a folder. Use -r to upload all images in it.')
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
        throw new CommandError('file', 'The file is larger than 256 MB, the limit of this command.')
      parts.push(part)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CommandError) throw error
    throw unreadable('file', error)
  }
  if (bytes === 0) throw new CommandError('file', isStdin ? 'stdin is empty.' : 'The file is empty.')
  return new Blob(parts)
}
