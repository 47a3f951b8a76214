import { randomUUID } from 'node:crypto'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { Command } from 'commander'
import { compress } from '../client/node.ts'
import type { Compressed, Mode } from '../client/types.ts'
import { EXTENSIONS, type ImageType } from '../protocol.ts'
import { createBars } from './bars.ts'
import { FileError, UsageError } from './exit.ts'
import { expandInputs } from './input.ts'
import { interruptSignal } from './interrupt.ts'
import { modeOption } from './options.ts'
import { describe, LOCATION_WARNING } from './words.ts'

export function compressCommand(): Command {
  return new Command('compress')
    .description('compress an image on this machine, as an upload would, and show what was done')
    .argument('<file>', 'a file, or - for stdin')
    .requiredOption('-o, --output <path>', 'a file, a folder, or - for stdout')
    .addOption(modeOption())
    .option('--json', 'say what was done as JSON, on stderr if the image goes to stdout')
    .action(compressFile)
}

async function compressFile(word: string, flags: { output: string; mode: Mode; json?: true }): Promise<void> {
  const [input, ...others] = await expandInputs([word])
  if (!input || others.length > 0) throw new UsageError('One file at a time, please.')
  const signal = interruptSignal()
  const bars = createBars()
  const bar = bars.start(input.name)
  let result: Compressed
  try {
    result = await compress(await input.read(), { mode: flags.mode, signal, onProgress: bar.show })
  } finally {
    bar.end()
    bars.stop()
  }
  if (flags.mode === 'original' && result.hasLocation)
    process.stderr.write(`${input.name}: ${LOCATION_WARNING}\n`)
  const bytes = new Uint8Array(await result.blob.arrayBuffer())
  const toStdout = flags.output === '-'
  const path = toStdout ? null : await outputPath(flags.output, input.name, result.type)
  if (path === null) process.stdout.write(bytes)
  else await replaceFile(path, bytes)
  const { blob: _, ...facts } = result
  const report = flags.json
    ? JSON.stringify({ file: input.name, output: path, ...facts })
    : `${input.name}: ${describe(result)}`
  const stream = toStdout ? process.stderr : process.stdout
  stream.write(`${report}\n`)
  if (path !== null && !fits(path, result.type)) {
    process.stderr.write(
      `${path}: its name does not say so, but this is a .${EXTENSIONS[result.type]} file.\n`,
    )
  }
}

async function outputPath(output: string, input: string, type: ImageType): Promise<string> {
  const isFolder = await stat(output).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  if (!isFolder) return output
  return join(output, `${basename(input, extname(input))}.${EXTENSIONS[type]}`)
}

function fits(path: string, type: ImageType): boolean {
  const extension = extname(path).slice(1).toLowerCase().replace('jpeg', 'jpg')
  return extension === '' || extension === EXTENSIONS[type]
}

/** Whole or not at all: it may be the input that is replaced. */
async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    await writeFile(draft, bytes, { flag: 'wx' })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw new FileError(`${path} can't be written (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  }
}
