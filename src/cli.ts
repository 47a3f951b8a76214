/** The `pinhole` command. One file a subcommand in `cli/commands/`. */
import { CommanderError } from 'commander'
import { EXIT, reportError } from './cli/exit.ts'
import { createProgram, withCommand } from './cli/program.ts'

/** Runs one command line (`process.argv`), and sets the process's exit code. */
export async function main([node = '', script = '', ...words]: string[]): Promise<void> {
  // A reader that has seen enough (`pinhole list | head`) closes the pipe; that is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  try {
    const program = createProgram()
    await program.parseAsync([node, script, ...withCommand(program, words)])
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage
      return
    }
    process.exitCode = reportError(error)
  }
}
