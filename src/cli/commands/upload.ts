import { Command } from 'commander'
import { endpointOf } from '../../client/api/endpoint.ts'
import { reach } from '../../client/api/reach.ts'
import { Unreachable } from '../../client/errors.ts'
import { EXIT, type ExitCode, NoService, UsageError } from '../exit.ts'
import { expandInputs, fileInput } from '../files/input.ts'
import { newPictures } from '../files/watch.ts'
import { type History, openHistory } from '../memory/history.ts'
import { readUploaded, type Uploaded } from '../memory/uploaded.ts'
import {
  CHOOSE_SERVER,
  convertOption,
  expiresOption,
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
import { type Outcome, remember, tell, tellError, tellKnown, tellUnsent } from '../uploads/outcome.ts'
import { createRun } from '../uploads/run.ts'

export function uploadCommand(): Command {
  return new Command('upload')
    .description('compress images, upload them, print their links; `pinhole FILE…` does the same')
    .argument('[file...]', 'files, globs, folders with -r, or - for stdin')
    .addOption(serverOption())
    .addOption(modeOption())
    .addOption(convertOption())
    .option('-r, --recursive', 'upload the pictures in folders, and below')
    .option('-w, --watch <folder>', 'upload each picture that comes into a folder, until Ctrl-C')
    .option('-j, --jobs <number>', 'uploads at a time', wholeNumber, 2)
    .addOption(expiresOption())
    .addOption(retriesOption())
    .option('--json', 'print one JSON object a file, with its deletion key')
    .option('-c, --copy', 'copy the links to the clipboard')
    .option('--again', 'upload files once more that were uploaded from this machine before')
    .option('--no-history', "don't remember links and keys on this machine")
    .action(upload)
}

async function upload(args: string[], flags: UploadFlags): Promise<void> {
  if (args.length === 0 && flags.watch === undefined) throw new UsageError('Name at least one file.')
  const signal = interruptSignal()
  const { server, isChosen } = serverOf(flags)
  // Before minutes of work: does the service answer?
  await reach(endpointOf(server), { signal, retries: isChosen ? Math.min(flags.retries, 1) : 0 }).catch(
    (error) => {
      throw error instanceof Unreachable && !isChosen ? new NoService(CHOOSE_SERVER, { cause: error }) : error
    },
  )
  const history = flags.history ? openHistory() : null
  const uploaded =
    history === null || flags.again || flags.expires ? null : await readUploaded(history, server)
  const bars = createBars()
  const desk = { history, uploaded, bars }
  let exit: ExitCode = EXIT.ok
  try {
    exit = await uploadFiles(args, flags, server, signal, desk)
    if (flags.watch !== undefined) await uploadNew(flags.watch, flags, server, signal, desk)
  } finally {
    bars.stop()
  }
  process.exitCode = signal.aborted && flags.watch === undefined ? EXIT.interrupted : exit
}

interface Desk {
  history: History | null
  /** `null`: nothing is skipped. */
  uploaded: Uploaded | null
  bars: Bars
}

/** Tells what became of a file. Its link, if it has one; else the code that it ends the command with. */
async function settle(
  outcome: Outcome,
  flags: UploadFlags,
  { history, bars }: Desk,
): Promise<string | ExitCode> {
  if ('sent' in outcome) {
    await remember(outcome, history, bars)
    tell(outcome, flags, bars)
    return outcome.sent.link
  }
  if ('known' in outcome) {
    tellKnown(outcome, flags, bars)
    return outcome.known.link
  }
  return 'error' in outcome ? tellError(outcome, flags, bars) : EXIT.ok
}

/** Gives the code of the first file that failed. */
async function uploadFiles(
  args: string[],
  flags: UploadFlags,
  server: string,
  signal: AbortSignal,
  desk: Desk,
): Promise<ExitCode> {
  const run = createRun(flags, server, signal, desk)
  const links: string[] = []
  const unsent: string[] = []
  let exit: ExitCode = EXIT.ok
  const inputs = await expandInputs(args, flags.recursive)
  if (inputs.length === 0 && args.length > 0) throw new UsageError('There are no pictures in this folder.')
  await inParallel(inputs, flags.jobs, run.uploadOne, async (outcome) => {
    if ('isUnsent' in outcome) unsent.push(outcome.name)
    const settled = await settle(outcome, flags, desk)
    if (typeof settled === 'string') links.push(settled)
    else exit ||= settled
  })
  if (unsent.length > 0) {
    const code = tellUnsent(unsent, run.ending(), inputs.length === 1, flags, desk.bars)
    exit ||= code
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
  desk: Desk,
): Promise<void> {
  const { bars } = desk
  if (process.stderr.isTTY) bars.say(`Watching ${printable(folder)}. Ctrl-C ends it.`)
  for await (const path of newPictures(folder, signal)) {
    const run = createRun(flags, server, signal, desk)
    const outcome = await run.uploadOne(fileInput(path))
    const link = await settle(outcome, flags, desk)
    if ('isUnsent' in outcome) tellUnsent([outcome.name], run.ending(), true, flags, bars)
    else if (flags.copy && typeof link === 'string') await copyText(link)
  }
}
