/** The table of the operator's commands. */
import { Command, CommanderError } from 'commander'
import { loadEnvFile } from '../env-file.ts'
import { linesOf } from '../error-lines.ts'
import { OPERATOR, VERSION } from '../manifest.ts'
import { backupCommand } from './data/backup.ts'
import { copyCommand } from './data/copy.ts'
import { listCommand } from './data/list.ts'
import { restoreCommand } from './data/restore.ts'
import { verifyCommand } from './data/verify.ts'
import {
  blockCommand,
  holdCommand,
  keepCommand,
  releaseCommand,
  removeCommand,
  unblockCommand,
} from './images/decide.ts'
import { evidenceCommand } from './images/evidence.ts'
import { queueCommand, showCommand } from './images/reported.ts'
import { agreeCommand } from './instance/agree.ts'
import { auditCommand, exportCommand } from './instance/audit.ts'
import { loginCommand } from './instance/login.ts'
import { confirmRestoreCommand, pauseCommand, resumeCommand, setCommand } from './instance/settings.ts'
import { statusCommand } from './instance/status.ts'
import { clearProgress, isOutputLost, tolerateLostOutput } from './print.ts'
import { SERVER_VARIABLE } from './remote.ts'

const COMMANDS = [
  queueCommand,
  showCommand,
  holdCommand,
  releaseCommand,
  keepCommand,
  removeCommand,
  blockCommand,
  unblockCommand,
  evidenceCommand,
  pauseCommand,
  resumeCommand,
  setCommand,
  auditCommand,
  exportCommand,
  loginCommand,
  statusCommand,
  agreeCommand,
  backupCommand,
  restoreCommand,
  confirmRestoreCommand,
  copyCommand,
  verifyCommand,
  listCommand,
]

/** What they need of the data comes through the admin server. */
const FROM_ELSEWHERE = [
  ...['queue', 'show', 'hold', 'release', 'keep', 'remove', 'block', 'unblock'],
  ...['pause', 'resume', 'set', 'audit', 'export', 'login', 'status', 'list'],
]

const EXIT_CODES = `
The same variables as the server's say where the data is: DATA_DIR, OBJECTS_URL, LEDGER_URL, CDN_URL.

Exit codes:
  0  all done
  1  something failed: standard error says what
  2  wrong command line`

/** Runs one command, and gives the code to exit with. Never throws. */
export async function runOperator(args: string[]): Promise<number> {
  tolerateLostOutput()
  const program = new Command(OPERATOR)
    .version(VERSION, '--version')
    .description("The operator's commands, on the data of a running server.")
    .option(
      '--env-file <file>',
      "the server's variables, as systemd reads them; those of the environment win",
    )
    .option('--server <url>', 'the address of an admin server elsewhere; OPERATOR_TOKEN opens it')
    .hook('preAction', (root, command) => {
      const { envFile, server } = root.opts<{ envFile?: string; server?: string }>()
      if (envFile !== undefined) loadEnvFile(envFile)
      if (server === undefined) return
      // The top-level command decides: for `evidence list` that is `evidence`.
      const name = (command.parent === root ? command : command.parent!).name()
      if (!FROM_ELSEWHERE.includes(name))
        throw new Error(`${name} works on the data itself: not with --server`)
      process.env[SERVER_VARIABLE] = server
    })
    .exitOverride()
    .showHelpAfterError()
    .addHelpText('after', EXIT_CODES)
  for (const command of COMMANDS) program.addCommand(command.copyInheritedSettings(program))
  try {
    await program.parseAsync(args, { from: 'user' }).finally(clearProgress)
    return isOutputLost() ? 1 : Number(process.exitCode ?? 0)
  } catch (error) {
    // Commander has printed its own errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`${linesOf(error).join('\n')}\n`)
    return 1
  }
}
