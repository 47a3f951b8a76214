/** Writes the output of `compress -o` atomically, because it may replace the input. */
import { randomUUID } from 'node:crypto'
import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { EXTENSIONS, type ImageType } from '../../protocol.ts'
import { CommandError } from '../exit.ts'

/** Extensions that imply a type. `null`: a type that is never an output. */
const TYPE_OF_EXTENSION = new Map<string, ImageType | null>([
  ...Object.entries(EXTENSIONS).map(([type, extension]) => [extension, type as ImageType] as const),
  ...['jpeg', 'jpe', 'jfif'].map((extension) => [extension, 'image/jpeg'] as const),
  ['apng', 'image/png'],
  ...['heic', 'heif', 'tif', 'tiff', 'bmp', 'jxl', 'svg', 'pdf'].map(
    (extension) => [extension, null] as const,
  ),
])

/**
 * Writes `bytes` to a file, or into a folder under the input's name. Returns the path. Throws a `CommandError` if the output is
 * neither file nor folder, has an extension of another type, or can't be written.
 */
export async function writeOutput(
  output: string,
  inputName: string,
  type: ImageType,
  bytes: Uint8Array,
): Promise<string> {
  const target = await stat(output).catch(() => null)
  const defaultName = `${basename(inputName, extname(inputName))}.${EXTENSIONS[type]}`
  const path = target?.isDirectory() ? join(output, defaultName) : output
  const expectedType = TYPE_OF_EXTENSION.get(extname(path).slice(1).toLowerCase())
  if (expectedType !== undefined && expectedType !== type) {
    const suggestion = `${path.slice(0, -extname(path).length)}.${EXTENSIONS[type]}`
    throw new CommandError(
      'file',
      `The result is a .${EXTENSIONS[type]} file, which doesn't match ${path}. Write to ${suggestion}, or add --mode keep-format.`,
    )
  }
  if (target && !target.isDirectory() && !target.isFile()) {
    throw new CommandError('file', `${path} is a device or a pipe, not a file. Use -o - for stdout.`)
  }
  await replaceFile(path, bytes)
  return path
}

/** Writes a temporary file next to the target and renames it. Keeps the file's mode, and follows a symbolic link. */
async function replaceFile(target: string, bytes: Uint8Array): Promise<void> {
  const path = await realpath(target).catch(() => target)
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const existing = await stat(path).catch(() => null)
    await writeFile(temporary, bytes, { flag: 'wx' })
    if (existing) await chmod(temporary, existing.mode & 0o7777)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw new CommandError('file', `${target} can't be written (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  }
}
