import { Command } from 'commander'
import { compress, send } from '../client/node.ts'
import type { Compressed, Mode, Sent } from '../client/types.ts'
import { type Bars, createBars } from './bars.ts'
import { copyText } from './clipboard.ts'
import { EXIT, type ExitCode, explain } from './exit.ts'
import { type History, openHistory } from './history.ts'
import { inParallel } from './in-parallel.ts'
import { expandInputs, type Input } from './input.ts'
import { interruptSignal } from './interrupt.ts'
import { modeOption, retriesOption, serverOption, wholeNumber } from './options.ts'
import { describe, LOCATION_WARNING } from './words.ts'

interface UploadFlags {
  server: string
  mode: Mode
  jobs: number
  retries: number
  json?: true
  copy?: true
  history: boolean
}

export function uploadCommand(): Command {
  return new Command('upload')
    .description('compress images, upload them, print their links')
    .argument('<file...>', 'files, globs, or - for stdin')
    .addOption(serverOption())
    .addOption(modeOption())
    .option('-j, --jobs <number>', 'uploads at a time', wholeNumber, 2)
    .addOption(retriesOption())
    .option('--json', 'print one JSON object a file, with its deletion key')
    .option('-c, --copy', 'copy the links to the clipboard')
    .option('--no-history', "don't remember links and keys on this machine")
    .action(upload)
}

/** What became of one file. */
type Outcome = { name: string } & ({ compressed: Compressed; sent: Sent } | { error: unknown })

async function upload(words: string[], flags: UploadFlags): Promise<void> {
  const signal = interruptSignal()
  const inputs = await expandInputs(words)
  const history = flags.history ? openHistory() : null
  const bars = createBars()
  const links: string[] = []
  let exit: ExitCode = EXIT.ok
  try {
    await inParallel(
      inputs,
      flags.jobs,
      (input) => uploadOne(input, flags, signal, bars),
      async (outcome) => {
        if ('error' in outcome) {
          const code = tellError(outcome, flags, bars)
          exit ||= code
        } else {
          await remember(outcome, history, bars)
          links.push(outcome.sent.link)
          tell(outcome, flags, bars)
        }
      },
    )
  } finally {
    bars.stop()
  }
  if (flags.copy && links.length > 0) await copyText(links.join('\n'))
  process.exitCode = signal.aborted ? EXIT.interrupted : exit
}

async function uploadOne(
  input: Input,
  flags: UploadFlags,
  signal: AbortSignal,
  bars: Bars,
): Promise<Outcome> {
  const { name } = input
  const bar = bars.start(name)
  try {
    signal.throwIfAborted()
    const { mode, server: baseUrl, retries } = flags
    const options = { mode, baseUrl, retries, signal, onProgress: bar.show }
    const compressed = await compress(await input.read(), options)
    return { name, compressed, sent: await send(compressed.blob, options) }
  } catch (error) {
    return { name, error }
  } finally {
    bar.end()
  }
}

async function remember(
  { name, compressed, sent }: Exclude<Outcome, { error: unknown }>,
  history: History | null,
  bars: Bars,
): Promise<void> {
  const { id, link, key, delete: deleteLink } = sent
  const { type, bytesOut: bytes } = compressed
  const time = new Date().toISOString()
  await history?.add({ id, link, key, delete: deleteLink, name, type, bytes, time }).catch((error: Error) => {
    bars.say(`${name}: its key could not be kept (${error.message}). Delete it with: pinhole delete ${key}`)
  })
}

/** Links go to stdout, alone. What people may want to know besides goes to stderr, and only on a terminal. */
function tell(
  { name, compressed, sent }: Exclude<Outcome, { error: unknown }>,
  flags: UploadFlags,
  bars: Bars,
): void {
  if (flags.mode === 'original' && compressed.hasLocation) bars.say(`${name}: ${LOCATION_WARNING}`)
  else if (process.stderr.isTTY) bars.say(`${name}: ${describe(compressed)}`)
  if (!flags.json) {
    bars.print(sent.link)
    return
  }
  const { bytesIn, bytesOut, type, action, hasLocation } = compressed
  bars.print(JSON.stringify({ file: name, ...sent, bytesIn, bytesOut, type, action, hasLocation }))
}

function tellError(
  { name, error }: { name: string; error: unknown },
  flags: UploadFlags,
  bars: Bars,
): ExitCode {
  const { code, text } = explain(error)
  if (code !== EXIT.interrupted) {
    bars.say(`${name}: ${text}`)
    if (flags.json) {
      const { code: reason } = error as { code?: string }
      bars.print(JSON.stringify({ file: name, error: reason ?? 'failed', detail: text }))
    }
  }
  return code
}
