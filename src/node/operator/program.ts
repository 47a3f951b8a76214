/** The table of the operator's commands: one file each. */
import { Command, CommanderError } from 'commander'
import { ConfigError } from '../../config/variable.ts'
import { actsCommand } from './acts.ts'
import { agreeCommand } from './agree.ts'
import { backupCommand } from './backup.ts'
import { blockCommand } from './block.ts'
import { copyCommand } from './copy.ts'
import { holdCommand } from './hold.ts'
import { keepCommand } from './keep.ts'
import { listCommand } from './list.ts'
import { loginCommand } from './login.ts'
import { toleratePipes } from './print.ts'
import { queueCommand } from './queue.ts'
import { releaseCommand } from './release.ts'
import { removeCommand } from './remove.ts'
import { restoreCommand } from './restore.ts'
import { pauseCommand, resumeCommand, setCommand } from './set.ts'
import { showCommand } from './show.ts'
import { statusCommand } from './status.ts'
import { unblockCommand } from './unblock.ts'
import { verifyCommand } from './verify.ts'

const COMMANDS: readonly (() => Command)[] = [
  queueCommand,
  showCommand,
  holdCommand,
  releaseCommand,
  keepCommand,
  removeCommand,
  blockCommand,
  unblockCommand,
  pauseCommand,
  resumeCommand,
  setCommand,
  actsCommand,
  loginCommand,
  statusCommand,
  agreeCommand,
  backupCommand,
  restoreCommand,
  copyCommand,
  verifyCommand,
  listCommand,
]

const EXIT_CODES = `
The same variables as the server's say where the data is.

Exit codes:
  0  all done
  1  something was not as asked: standard error has it
  2  the command line makes no sense`

/** Runs one command, and gives the code to exit with. Never throws. */
export async function runOperator(words: string[]): Promise<number> {
  toleratePipes()
  const program = new Command('operator')
    .description("The operator's commands, on the data of a running server.")
    .exitOverride()
    .showHelpAfterError()
    .addHelpText('after', EXIT_CODES)
  for (const command of COMMANDS) program.addCommand(command().copyInheritedSettings(program))
  try {
    await program.parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    // What commander refuses it has said itself.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const lines = error instanceof ConfigError ? error.mistakes : linesOf(error)
    process.stderr.write(`${lines.join('\n')}\n`)
    return 1
  }
}

function linesOf(error: unknown): string[] {
  const { message, cause } = error as Error
  return [message, ...(cause instanceof Error ? linesOf(cause) : [])]
}
