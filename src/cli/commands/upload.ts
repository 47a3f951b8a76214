import { Command } from 'commander'
import { endpointOf } from '../../client/api/endpoint.ts'
import { reach } from '../../client/api/reach.ts'
import { EXIT, type ExitCode, UsageError } from '../exit.ts'
import { expandInputs, fileInput } from '../files/input.ts'
import { newPictures } from '../files/watch.ts'
import { type History, openHistory } from '../memory/history.ts'
import {
  modeOption,
  retriesOption,
  serverOf,
  serverOption,
  type UploadFlags,
  wholeNumber,
} from '../options.ts'
import { type Bars, createBars } from '../terminal/bars.ts'
import { copyText } from '../terminal/clipboard.ts'
import { interruptSignal } from '../terminal/interrupt.ts'
import { printable } from '../terminal/printable.ts'
import { inParallel } from '../uploads/in-parallel.ts'
import { isLinked, remember, tell, tellError } from '../uploads/outcome.ts'
import { createRun } from '../uploads/run.ts'

export function uploadCommand(): Command {
  return new Command('upload')
    .description('compress images, upload them, print their links; `pinhole FILE…` does the same')
    .argument('[file...]', 'files, globs, folders with -r, or - for stdin')
    .addOption(serverOption())
    .addOption(modeOption())
    .option('-r, --recursive', 'upload the pictures in folders, and below')
    .option('-w, --watch <folder>', 'upload each picture that comes into a folder, until Ctrl-C')
    .option('-j, --jobs <number>', 'uploads at a time', wholeNumber, 2)
    .addOption(retriesOption())
    .option('--json', 'print one JSON object a file, with its deletion key')
    .option('-c, --copy', 'copy the links to the clipboard')
    .option('--no-history', "don't remember links and keys on this machine")
    .action(upload)
}

async function upload(args: string[], flags: UploadFlags): Promise<void> {
  if (args.length === 0 && flags.watch === undefined) throw new UsageError('Name at least one file.')
  const signal = interruptSignal()
  const server = serverOf(flags)
  // Before minutes of work: does the service answer?
  await reach(endpointOf(server), { signal, retries: Math.min(flags.retries, 1) })
  const history = flags.history ? openHistory() : null
  const bars = createBars()
  let exit: ExitCode = EXIT.ok
  try {
    exit = await uploadFiles(args, flags, server, signal, { history, bars })
    if (flags.watch !== undefined) await uploadNew(flags.watch, flags, server, signal, { history, bars })
  } finally {
    bars.stop()
  }
  process.exitCode = signal.aborted && flags.watch === undefined ? EXIT.interrupted : exit
}

interface Desk {
  history: History | null
  bars: Bars
}

/** Gives the code of the first file that failed. */
async function uploadFiles(
  args: string[],
  flags: UploadFlags,
  server: string,
  signal: AbortSignal,
  { history, bars }: Desk,
): Promise<ExitCode> {
  const run = createRun(flags, server, signal, bars)
  const links: string[] = []
  let exit: ExitCode = EXIT.ok
  let untried = 0
  const inputs = await expandInputs(args, flags.recursive)
  if (inputs.length === 0 && args.length > 0) throw new UsageError('There are no pictures in this folder.')
  await inParallel(inputs, flags.jobs, run.uploadOne, async (outcome) => {
    if (isLinked(outcome)) {
      await remember(outcome, history, bars)
      links.push(outcome.sent.link)
      tell(outcome, flags, bars)
    } else if (outcome.error === null) {
      untried++
    } else {
      const code = tellError(outcome, flags, bars)
      exit ||= code
    }
  })
  if (untried > 0 && !signal.aborted) {
    bars.say(untried === 1 ? 'One more file was not tried.' : `${untried} more files were not tried.`)
  }
  if (flags.copy && links.length > 0) await copyText(links.join('\n'))
  return exit
}

/** A service that is down for a while ends no watch: each picture is tried. */
async function uploadNew(
  folder: string,
  flags: UploadFlags,
  server: string,
  signal: AbortSignal,
  { history, bars }: Desk,
): Promise<void> {
  if (process.stderr.isTTY) bars.say(`Watching ${printable(folder)}. Ctrl-C ends it.`)
  for await (const path of newPictures(folder, signal)) {
    const outcome = await createRun(flags, server, signal, bars).uploadOne(fileInput(path))
    if (isLinked(outcome)) {
      await remember(outcome, history, bars)
      tell(outcome, flags, bars)
      if (flags.copy) await copyText(outcome.sent.link)
    } else if (outcome.error !== null) {
      tellError(outcome, flags, bars)
    }
  }
}
