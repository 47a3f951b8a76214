import { Command } from 'commander'
import { compress } from '../../client/node.ts'
import type { Compressed, Mode } from '../../client/types.ts'
import { CommandError, interruptSignal } from '../exit.ts'
import { expandInputs } from '../files/input.ts'
import { writeOutput } from '../files/output-file.ts'
import { convertOption, modeOption } from '../options.ts'
import { createBars } from '../terminal/bars.ts'
import { describe, jsonText, LOCATION_WARNING, printable } from '../terminal/text.ts'

export function compressCommand(): Command {
  return new Command('compress')
    .description('compress an image as an upload on a slow line would, without uploading it')
    .argument('<file>', 'a file, or - for stdin')
    .requiredOption('-o, --output <path>', 'a file, a folder, or - for stdout')
    .addOption(modeOption())
    .addOption(convertOption())
    .option('--json', 'print a JSON report (on stderr if the image goes to stdout)')
    .action(compressFile)
}

async function compressFile(
  path: string,
  flags: { output: string; mode: Mode; convert: boolean; json?: true },
): Promise<void> {
  const [input, ...others] = await expandInputs([path])
  if (!input || others.length > 0)
    throw new CommandError('usage', 'This command compresses one file at a time.')
  const signal = interruptSignal()
  const bars = createBars()
  const bar = bars.start(input.name)
  let result: Compressed
  try {
    const { mode, convert } = flags
    result = await compress(await input.read(signal), { mode, convert, signal, onProgress: bar.show })
  } finally {
    bar.end()
    bars.flush()
  }
  const subject = printable(input.name)
  if (flags.mode === 'original' && result.hasLocation)
    process.stderr.write(`${subject}: ${LOCATION_WARNING}\n`)
  const bytes = new Uint8Array(await result.blob.arrayBuffer())
  const toStdout = flags.output === '-'
  const output = toStdout ? null : await writeOutput(flags.output, input.name, result.type, bytes)
  if (toStdout) process.stdout.write(bytes)
  const { blob: _, ...facts } = result
  const report = flags.json
    ? jsonText({ file: input.name, output, ...facts })
    : `${subject}: ${describe(result)}`
  const stream = toStdout ? process.stderr : process.stdout
  stream.write(`${report}\n`)
}
