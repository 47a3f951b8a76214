import { Command } from 'commander'
import { forEachConcurrent } from '../../async.ts'
import { Unreachable } from '../../client/errors.ts'
import { CommandError, EXIT, type ExitCode, interruptSignal } from '../exit.ts'
import { expandInputs, fileInput } from '../files/input.ts'
import { newPictures } from '../files/watch.ts'
import { type Entry, readUploaded } from '../history.ts'
import {
  convertOption,
  expiresOption,
  modeOption,
  retriesOption,
  type UploadFlags,
  wholeNumber,
} from '../options.ts'
import { CHOOSE_SERVER, reach, serverOf, serverOption } from '../service.ts'
import { createBars } from '../terminal/bars.ts'
import { copyText } from '../terminal/clipboard.ts'
import { printable } from '../terminal/text.ts'
import { type Outcome, settle, tellUnsent } from '../uploads/outcome.ts'
import { createRun, type Session } from '../uploads/run.ts'

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
  const isWatching = flags.watch !== undefined
  if (args.length === 0 && !isWatching) throw new CommandError('usage', 'Name at least one file.')
  const signal = interruptSignal()
  const { server, isChosen } = serverOf(flags)
  // Before minutes of work: does the service answer?
  const retries = isChosen ? Math.min(flags.retries, 1) : 0
  await reach(server, { signal, retries }).catch((cause) => {
    const isUnset = cause instanceof Unreachable && !isChosen
    throw isUnset ? new CommandError('unreachable', CHOOSE_SERVER, { cause }) : cause
  })
  const skipsKnown = flags.history && !flags.again && !flags.expires
  const uploaded = skipsKnown ? await readUploaded(server) : new Map<string, Entry>()
  const bars = createBars()
  const session = { flags, server, signal, bars, uploaded }
  let exit: ExitCode = EXIT.ok
  try {
    exit = await uploadFiles(args, session)
    if (flags.watch !== undefined) await uploadNew(flags.watch, session)
  } finally {
    bars.stop()
  }
  process.exitCode = signal.aborted && !isWatching ? EXIT.interrupted : exit
}

/** Gives the code of the first file that failed. */
async function uploadFiles(args: string[], session: Session): Promise<ExitCode> {
  const { flags } = session
  const run = createRun(session)
  const links: string[] = []
  const unsent: string[] = []
  let exit: ExitCode = EXIT.ok
  const inputs = await expandInputs(args, flags.recursive)
  if (inputs.length === 0 && args.length > 0)
    throw new CommandError('usage', 'There are no pictures in this folder.')
  const outcomes = inputs.map(() => Promise.withResolvers<Outcome>())
  const all = forEachConcurrent([...inputs.entries()], flags.jobs, async ([index, input]) => {
    outcomes[index]!.resolve(await run.uploadOne(input))
  })
  // Results are reported in the order of the files.
  for (const { promise } of outcomes) {
    const outcome = await promise
    if ('isUnsent' in outcome) unsent.push(outcome.name)
    const settled = settle(outcome, session)
    if (typeof settled === 'string') links.push(settled)
    else exit ||= settled
  }
  await all
  if (unsent.length > 0) {
    const code = tellUnsent(unsent, run.ending(), inputs.length === 1, session)
    exit ||= code
  }
  if (flags.copy && links.length > 0) await copyText(links.join('\n'))
  return exit
}

/** A service that is down for a while ends no watch: each picture is tried. */
async function uploadNew(folder: string, session: Session): Promise<void> {
  const { flags, signal, bars } = session
  if (process.stderr.isTTY) bars.say(`Watching ${printable(folder)}. Ctrl-C ends it.`)
  for await (const path of newPictures(folder, signal)) {
    const run = createRun(session)
    const outcome = await run.uploadOne(fileInput(path))
    const link = settle(outcome, session)
    if ('isUnsent' in outcome) tellUnsent([outcome.name], run.ending(), true, session)
    else if (flags.copy && typeof link === 'string') await copyText(link)
  }
}
