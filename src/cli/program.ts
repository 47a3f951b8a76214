import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { completionCommand } from './commands/completion.ts'
import { compressCommand } from './commands/compress.ts'
import { deleteCommand } from './commands/delete.ts'
import { listCommand } from './commands/list.ts'
import { serveCommand } from './commands/serve.ts'
import { uploadCommand } from './commands/upload.ts'
import { useCommand } from './commands/use.ts'
import { manifest } from './manifest.ts'

const EXIT_CODES = `
Exit codes:
  0    all done
  1    something unexpected
  2    the command line makes no sense
  3    a file was refused or can't be read
  4    the service refused (quota, unknown key, …)
  5    the service can't be reached
  130  interrupted
With several files, the code is that of the first one that failed.`

export function createProgram(): Command {
  const program = new Command('pinhole')
    .description('Anonymous image sharing: drop a picture, get a link, share it, delete it with a key.')
    .usage('FILE…  or: pinhole <command> [options]')
    .version(manifest.version)
    .exitOverride()
    .showHelpAfterError('(pinhole --help shows what there is)')
    .addHelpText('after', EXIT_CODES)
  for (const command of [
    serveCommand(),
    uploadCommand(),
    deleteCommand(),
    listCommand(),
    compressCommand(),
    useCommand(),
    completionCommand(program),
  ]) {
    program.addCommand(command.copyInheritedSettings(program))
  }
  return program
}

/** `pinhole photo.jpg` is short for `pinhole upload photo.jpg`. A command of that name comes first. */
export function withCommand(program: Command, args: string[]): string[] {
  const [first] = args
  if (first === undefined || /^(?:-h|--help|-V|--version|help)$/.test(first)) return args
  if (program.commands.some((command) => command.name() === first)) return args
  const isOption = first.startsWith('-')
  return isOption || /[./*\\]/.test(first) || existsSync(first) ? ['upload', ...args] : args
}
