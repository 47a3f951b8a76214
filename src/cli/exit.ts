/** How the command ends, and what it says when something goes wrong: what happened, then what to do. */
import { Refusal, ServerRefusal, Unreachable } from '../client/errors.ts'
import { printable } from './terminal/text.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** A file was refused here: not an image, damaged, too large, not readable. */
  file: 3,
  /** The service refused: quota, unknown key, paused. */
  refused: 4,
  unreachable: 5,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error that the command reports itself. Its message is one sentence for people. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(kind: 'usage' | 'file' | 'unreachable', message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = EXIT[kind]
  }
}

/** Writes one error to stderr, and gives the exit code that it stands for. */
export function reportError(error: unknown, subject = 'pinhole'): ExitCode {
  const { code, text } = explain(error)
  if (code !== EXIT.interrupted) process.stderr.write(`${printable(subject)}: ${printable(text)}\n`)
  return code
}

export function explain(error: unknown): { code: ExitCode; text: string } {
  if (error instanceof ServerRefusal) return { code: EXIT.refused, text: withAdvice(error) }
  if (error instanceof Refusal) return { code: EXIT.file, text: error.detail }
  if (error instanceof CommandError) return { code: error.exitCode, text: error.message }
  if (error instanceof TypeError) return { code: EXIT.usage, text: error.message }
  if (error instanceof Unreachable) {
    const advice =
      'Check the address (--server, PINHOLE_SERVER or `pinhole use`) and the network, then try again.'
    return { code: EXIT.unreachable, text: `${error.message}. ${advice}` }
  }
  if (!(error instanceof Error)) return { code: EXIT.failed, text: String(error) }
  if (error.name === 'AbortError') return { code: EXIT.interrupted, text: 'Interrupted.' }
  return { code: EXIT.failed, text: error.message }
}

function withAdvice({ code, detail, retryAfterSeconds }: ServerRefusal): string {
  if (code === 'quota-exceeded' && retryAfterSeconds !== undefined) {
    const at = new Date(Date.now() + retryAfterSeconds * 1000)
    return `${detail} Try again after ${at.toLocaleString()}.`
  }
  if (code === 'unknown-key') return `${detail} \`pinhole list\` shows the keys that this machine knows.`
  return detail
}

/** One Ctrl-C may come twice: from the terminal to the whole group, and from a parent that hands it on. */
const SAME_KEYSTROKE_MS = 500

/** Ctrl-C ends what is under way in good order; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  let first = 0
  const interrupt = () => {
    if (!controller.signal.aborted) {
      first = performance.now()
      controller.abort()
    } else if (performance.now() - first > SAME_KEYSTROKE_MS) {
      process.exit(EXIT.interrupted)
    }
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt)
  return controller.signal
}
