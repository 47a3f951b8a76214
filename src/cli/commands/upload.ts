import { Command } from 'commander'
import { forEachConcurrent } from '../../async.ts'
import { Unreachable } from '../../client/errors.ts'
import { CommandError, EXIT, type ExitCode, interruptSignal } from '../exit.ts'
import { expandInputs, fileInput } from '../files/input.ts'
import { newImages } from '../files/watch.ts'
import { type Entry, readUploads } from '../history.ts'
import {
  convertOption,
  expiresOption,
  integerFrom,
  modeOption,
  retriesOption,
  type UploadFlags,
} from '../options.ts'
import { checkReachable, NO_SERVICE_MESSAGE, serverOf, serverOption } from '../service.ts'
import { createBars } from '../terminal/bars.ts'
import { copyText } from '../terminal/clipboard.ts'
import { printable } from '../terminal/text.ts'
import { type Outcome, report, reportUnsent } from '../uploads/outcome.ts'
import { createRun, type Session } from '../uploads/run.ts'

export function uploadCommand(): Command {
  return new Command('upload')
    .description('compress and upload images, and print their links; same as `pinhole FILE…`')
    .argument('[file...]', 'files, globs, folders with -r, or - for stdin')
    .addOption(serverOption())
    .addOption(modeOption())
    .addOption(convertOption())
    .option('-r, --recursive', 'upload all images in folders and their subfolders')
    .option('-w, --watch <folder>', 'upload each new image in a folder, until Ctrl-C')
    .option('-j, --jobs <number>', 'number of concurrent uploads', integerFrom(1), 2)
    .addOption(expiresOption())
    .addOption(retriesOption())
    .option('--json', 'print one JSON object per file, with its deletion key')
    .option('-c, --copy', 'copy the links to the clipboard')
    .option('--again', 'upload files again that were already uploaded from this machine')
    .option('--no-history', "don't save links and keys on this machine")
    .action(upload)
}

async function upload(args: string[], flags: UploadFlags): Promise<void> {
  const isWatching = flags.watch !== undefined
  if (args.length === 0 && !isWatching) throw new CommandError('usage', 'Specify at least one file.')
  const signal = interruptSignal()
  const { server, isChosen } = serverOf(flags)
  // Check the service before spending minutes on compression.
  const retries = isChosen ? Math.min(flags.retries, 1) : 0
  await checkReachable(server, { signal, retries }).catch((cause) => {
    const isUnset = cause instanceof Unreachable && !isChosen
    throw isUnset ? new CommandError('unreachable', NO_SERVICE_MESSAGE, { cause }) : cause
  })
  const skipsUploaded = flags.history && !flags.again && !flags.expires
  const uploaded = skipsUploaded ? await readUploads(server) : new Map<string, Entry>()
  const bars = createBars()
  const session = { flags, server, signal, bars, uploaded }
  let exit: ExitCode = EXIT.ok
  try {
    exit = await uploadFiles(args, session)
    if (flags.watch !== undefined) await watchFolder(flags.watch, session)
  } finally {
    bars.flush()
  }
  process.exitCode = signal.aborted && !isWatching ? EXIT.interrupted : exit
}

/** Returns the exit code of the first failure. */
async function uploadFiles(args: string[], session: Session): Promise<ExitCode> {
  const { flags } = session
  const run = createRun(session)
  const links: string[] = []
  const unsent: string[] = []
  let exit: ExitCode = EXIT.ok
  const inputs = await expandInputs(args, flags.recursive)
  if (inputs.length === 0 && args.length > 0)
    throw new CommandError('usage', 'There are no images in this folder.')
  const outcomes = inputs.map(() => Promise.withResolvers<Outcome>())
  const all = forEachConcurrent([...inputs.entries()], flags.jobs, async ([index, input]) => {
    outcomes[index]!.resolve(await run.uploadOne(input))
  })
  // Report results in the order of the files.
  for (const { promise } of outcomes) {
    const outcome = await promise
    if ('isUnsent' in outcome) unsent.push(outcome.name)
    const linkOrCode = report(outcome, session)
    if (typeof linkOrCode === 'string') links.push(linkOrCode)
    else exit ||= linkOrCode
  }
  await all
  if (unsent.length > 0) {
    const code = reportUnsent(unsent, run.stopReason(), inputs.length === 1, session)
    exit ||= code
  }
  if (flags.copy && links.length > 0) await copyText(links.join('\n'))
  return exit
}

/** Keeps watching while the service is down: each image gets a run of its own. */
async function watchFolder(folder: string, session: Session): Promise<void> {
  const { flags, signal, bars } = session
  bars.flush()
  if (process.stderr.isTTY) bars.log(`Watching ${printable(folder)} for new images. Press Ctrl-C to stop.`)
  for await (const path of newImages(folder, signal)) {
    const run = createRun(session)
    const outcome = await run.uploadOne(fileInput(path))
    const link = report(outcome, session)
    if ('isUnsent' in outcome) reportUnsent([outcome.name], run.stopReason(), true, session)
    bars.flush()
    if (flags.copy && typeof link === 'string') await copyText(link)
  }
}
