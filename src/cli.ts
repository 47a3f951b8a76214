/** The `pinhole` command. Each subcommand has a file in `cli/commands/`. */
import { existsSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { completionCommand } from './cli/commands/completion.ts'
import { compressCommand } from './cli/commands/compress.ts'
import { deleteCommand } from './cli/commands/delete.ts'
import { listCommand } from './cli/commands/list.ts'
import { serveCommand } from './cli/commands/serve.ts'
import { uploadCommand } from './cli/commands/upload.ts'
import { useCommand } from './cli/commands/use.ts'
import { EXIT, EXIT_CODES, reportError } from './cli/exit.ts'
import { manifest } from './cli/manifest.ts'

const EXIT_HELP = `
Exit codes:
${EXIT_CODES.map(([code, meaning]) => `  ${`${code}`.padEnd(3)}  ${meaning}`).join('\n')}
With several files, the exit code is that of the first failure.`

export function createProgram(): Command {
  const program = new Command('pinhole')
    .description('Anonymous image sharing: drop a picture, get a link, share it, delete it with a key.')
    .usage('FILE…  or: pinhole <command> [options]')
    .version(manifest.version)
    .exitOverride()
    .showHelpAfterError('(run pinhole --help for usage)')
    .addHelpText('after', EXIT_HELP)
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

/** Runs a command line (`process.argv`) and sets the process's exit code. */
export async function main([node = '', script = '', ...args]: string[]): Promise<void> {
  // Reported at the end, because it must not stop an upload before its key is saved.
  let failure: Error | undefined
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A closed pipe (`pinhole list | head`) or terminal is not an error.
      if (error.code !== 'EPIPE' && error.code !== 'EIO') failure ??= error
    })
  }
  process.once('exit', () => {
    if (failure) process.exitCode = reportError(failure)
  })
  try {
    const program = createProgram()
    await program.parseAsync([node, script, ...withCommand(program, args)])
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage
      return
    }
    process.exitCode = reportError(error)
  }
}

/** Expands `pinhole photo.jpg` to `pinhole upload photo.jpg`. A command name takes precedence over a file of that name. */
function withCommand(program: Command, args: string[]): string[] {
  const [first] = args
  if (first === undefined || /^(?:-h|--help|-V|--version|help)$/.test(first)) return args
  if (program.commands.some((command) => command.name() === first)) return args
  const isOption = first.startsWith('-')
  return isOption || /[./*\\]/.test(first) || existsSync(first) ? ['upload', ...args] : args
}
