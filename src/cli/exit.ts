/** Exit codes and error messages: what happened, then what to do about it. */
import { Refusal, ServerRefusal, Unreachable } from '../client/errors.ts'
import { localTime, printable } from './terminal/text.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** A file was refused on this machine: not an image, damaged, too large, or unreadable. */
  file: 3,
  /** The service refused the request: quota, unknown key, uploads paused. */
  refused: 4,
  unreachable: 5,
  interrupted: 130,
} as const

/** For the help and the manual page. */
export const EXIT_CODES: [code: number, meaning: string][] = [
  [EXIT.ok, 'success'],
  [EXIT.failed, 'unexpected error'],
  [EXIT.usage, 'invalid command line'],
  [EXIT.file, "a file was refused or can't be read"],
  [EXIT.refused, 'the service refused the request (quota, unknown key, …)'],
  [EXIT.unreachable, "the service can't be reached"],
  [EXIT.interrupted, 'interrupted'],
]

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error raised by the command itself, with a message for the user. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(kind: 'usage' | 'file' | 'unreachable', message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = EXIT[kind]
  }
}

/** Writes an error to stderr and returns its exit code. */
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
      'Check your network and the address of the service (--server, PINHOLE_SERVER or `pinhole use`).'
    return { code: EXIT.unreachable, text: `${error.message}. ${advice}` }
  }
  if (!(error instanceof Error)) return { code: EXIT.failed, text: String(error) }
  if (error.name === 'AbortError') return { code: EXIT.interrupted, text: 'Interrupted.' }
  return { code: EXIT.failed, text: error.message }
}

function withAdvice({ code, detail, retryAfterSeconds }: ServerRefusal): string {
  if (code === 'quota-exceeded' && retryAfterSeconds !== undefined) {
    return `${detail} Try again after ${localTime(Date.now() + retryAfterSeconds * 1000)}.`
  }
  if (code === 'unknown-key')
    return `${detail} Run \`pinhole list\` to see the keys saved on this machine; --prune forgets those of deleted images.`
  return detail
}

/** One Ctrl-C may arrive twice: from the terminal to the whole process group, and from a parent that forwards it. */
const SAME_KEYSTROKE_MS = 500

/** Graceful shutdown: the first Ctrl-C, or closing the terminal, cancels pending work; a second one exits immediately. */
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
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt)
  return controller.signal
}
