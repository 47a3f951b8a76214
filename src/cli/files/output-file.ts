/** Where `compress -o` writes: whole or not at all, for it may be the input that is replaced. */
import { randomUUID } from 'node:crypto'
import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { EXTENSIONS, type ImageType } from '../../protocol.ts'
import { CommandError } from '../exit.ts'

/** Extensions that promise a type. */
const PROMISES = new Map<string, ImageType | null>([
  ...Object.entries(EXTENSIONS).map(([type, extension]) => [extension, type as ImageType] as const),
  ...['jpeg', 'jpe', 'jfif'].map((extension) => [extension, 'image/jpeg'] as const),
  ['apng', 'image/png'],
  ...['heic', 'heif', 'tif', 'tiff', 'bmp', 'jxl', 'svg', 'pdf'].map(
    (extension) => [extension, null] as const,
  ),
])

/**
 * Writes `bytes` to a file, or into a folder under the input's name. Gives the path. Throws a `CommandError` for what is
 * neither, for a name that promises another type, and if it can't be written.
 */
export async function writeOutput(
  output: string,
  inputName: string,
  type: ImageType,
  bytes: Uint8Array,
): Promise<string> {
  const target = await stat(output).catch(() => null)
  const named = `${basename(inputName, extname(inputName))}.${EXTENSIONS[type]}`
  const path = target?.isDirectory() ? join(output, named) : output
  const promised = PROMISES.get(extname(path).slice(1).toLowerCase())
  if (promised !== undefined && promised !== type) {
    const better = `${path.slice(0, -extname(path).length)}.${EXTENSIONS[type]}`
    throw new CommandError(
      'file',
      `The result is a .${EXTENSIONS[type]} file, and ${path} would say otherwise. Write to ${better}, or add --mode keep-format.`,
    )
  }
  if (target && !target.isDirectory() && !target.isFile()) {
    throw new CommandError('file', `${path} is a device or a pipe, not a file. Use -o - for stdout.`)
  }
  await replaceFile(path, bytes)
  return path
}

/** Beside it, then renamed. The mode stays, and a link leads to the new file. */
async function replaceFile(link: string, bytes: Uint8Array): Promise<void> {
  const path = await realpath(link).catch(() => link)
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    const before = await stat(path).catch(() => null)
    await writeFile(draft, bytes, { flag: 'wx' })
    if (before) await chmod(draft, before.mode & 0o7777)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw new CommandError('file', `${link} can't be written (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  }
}
