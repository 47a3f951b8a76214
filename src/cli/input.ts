/** What FILE on the command line stands for. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import { FileError } from './exit.ts'

export interface Input {
  /** For people: the path as given, or `(stdin)`. */
  name: string
  read(): Promise<Blob>
}

/** More than any image that is still under 25 MB after compression. Unit: bytes. */
const MAX_INPUT_BYTES = 256 * 2 ** 20

/** `-` is stdin. A path that exists is itself, even with a `*` in it; other patterns are globs, as quoted ones are. */
export async function expandInputs(words: string[]): Promise<Input[]> {
  const inputs: Input[] = []
  for (const word of words) {
    if (word === '-') {
      inputs.push({ name: '(stdin)', read: () => readBounded(process.stdin, 'stdin') })
    } else if (!(await exists(word)) && isDynamicPattern(word)) {
      const paths = await glob(word, { expandDirectories: false })
      if (paths.length === 0) inputs.push(fileInput(word))
      inputs.push(...paths.sort().map(fileInput))
    } else {
      inputs.push(fileInput(word))
    }
  }
  return inputs
}

export function fileInput(path: string): Input {
  return {
    name: path,
    async read() {
      const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
        const missing = error.code === 'ENOENT'
        throw new FileError(missing ? 'There is no such file.' : `It can't be read (${error.code}).`, {
          cause: error,
        })
      })
      if (stats.isDirectory()) {
        throw new FileError(`This is a folder. Name its files, e.g. '${basename(path)}/*.jpg'.`)
      }
      return readBounded(createReadStream(path), path)
    },
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function readBounded(stream: AsyncIterable<Uint8Array>, name: string): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  try {
    for await (const part of stream) {
      bytes += part.length
      if (bytes > MAX_INPUT_BYTES) throw new FileError('It has more than 256 MB: too large to be looked at.')
      parts.push(part as Uint8Array<ArrayBuffer>)
    }
  } catch (error) {
    if (error instanceof FileError) throw error
    throw new FileError(`It can't be read (${(error as NodeJS.ErrnoException).code ?? error}).`, {
      cause: error,
    })
  }
  if (bytes === 0) throw new FileError(name === 'stdin' ? 'Nothing came in.' : 'The file is empty.')
  return new Blob(parts)
}
