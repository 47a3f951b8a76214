/** The operator's command line program. */
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

/** Commands that work with `--server`: the admin server provides all the data that they need. */
const REMOTE_COMMANDS = [
  ...['queue', 'show', 'hold', 'release', 'keep', 'remove', 'block', 'unblock'],
  ...['pause', 'resume', 'set', 'audit', 'export', 'login', 'status', 'list'],
]

const EXIT_CODES = `
The data is located by the same variables as for the server: DATA_DIR, OBJECTS_URL, LEDGER_URL, CDN_URL.

Exit codes:
  0  success
  1  something failed: see standard error
  2  invalid command line`

/** Runs one command and returns the exit code. Never throws. */
export async function runOperator(args: string[]): Promise<number> {
  tolerateLostOutput()
  const program = new Command(OPERATOR)
    .version(VERSION, '--version')
    .description('Operator commands. They work on the data of a running server.')
    .option(
      '--env-file <file>',
      "read the server's variables from a file in systemd's EnvironmentFile= format; the environment takes precedence",
    )
    .option('--server <url>', 'address of a remote admin server; needs OPERATOR_TOKEN')
    .hook('preAction', (root, command) => {
      const { envFile, server } = root.opts<{ envFile?: string; server?: string }>()
      if (envFile !== undefined) loadEnvFile(envFile)
      if (server === undefined) return
      // For a subcommand the top-level command decides: `evidence` for `evidence list`.
      const name = (command.parent === root ? command : command.parent!).name()
      if (!REMOTE_COMMANDS.includes(name))
        throw new Error(`${name} needs direct access to the data: run it on the server, not with --server`)
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
    // Commander has already printed its own errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`${linesOf(error).join('\n')}\n`)
    return 1
  }
}
