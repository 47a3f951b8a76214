/** Writes files atomically: the output of `compress -o` may replace the input. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { EXTENSIONS, type ImageType } from '../../protocol.ts'
import { CommandError } from '../exit.ts'

/** Extensions that imply a type, which may be one that is never an output. */
const TYPE_OF_EXTENSION = new Map([
  ...Object.entries(EXTENSIONS).map(([type, extension]) => [extension, type] as const),
  ...['jpeg', 'jpe', 'jfif'].map((extension) => [extension, 'image/jpeg'] as const),
  ['apng', 'image/png'],
  ...'heic heif tif tiff bmp jxl svg pdf'.split(' ').map((extension) => [extension, 'other'] as const),
])

/**
 * Writes `bytes` to a file, or into a folder under the input's name, with the extension of their type. Returns the path. Throws
 * a `CommandError` if the output is neither file nor folder, has an extension of another type, or can't be written; or if a
 * changed extension makes it the name of another file, which nobody meant to replace.
 */
export async function writeOutput(
  output: string,
  inputName: string,
  type: ImageType,
  bytes: Uint8Array,
): Promise<string> {
  const target = await stat(output).catch(() => null)
  const name = basename(inputName)
  const stem = typeByExtension(name) ? name.slice(0, -extname(name).length) : name
  const defaultName = `${stem}.${EXTENSIONS[type]}`
  const path = target?.isDirectory() ? join(output, defaultName) : output
  if (path !== output && defaultName !== name && existsSync(path)) {
    throw new CommandError('file', `${path} already exists. Name the output file to replace it: -o ${path}`)
  }
  const expectedType = typeByExtension(path)
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

function typeByExtension(path: string): string | undefined {
  return TYPE_OF_EXTENSION.get(extname(path).slice(1).toLowerCase())
}

/**
 * Writes a temporary file next to the target, flushes it and renames it. Keeps the file's mode, and follows a symbolic link.
 * Throws a `CommandError`.
 */
export async function replaceFile(target: string, content: Uint8Array | string): Promise<void> {
  const path = await realpath(target).catch(() => target)
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const existing = await stat(path).catch(() => null)
    const mode = existing && existing.mode & 0o7777
    await writeFile(temporary, content, { flag: 'wx', flush: true, ...(mode !== null && { mode }) })
    // The umask does not apply to it.
    if (mode !== null) await chmod(temporary, mode)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw new CommandError('file', `${target} can't be written (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  }
}
