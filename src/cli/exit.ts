/** How the command ends, and what it says when something goes wrong: what happened, then what to do. */
import { Refusal, ServerRefusal, Unreachable } from '../client/errors.ts'
import { printable } from './terminal/printable.ts'

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

/** Something about a file on this machine. */
export class FileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'FileError'
  }
}

/** The command line is not valid. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** Nobody chose a service, and none answers on this machine. */
export class NoService extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NoService'
  }
}

/** Writes one error to stderr, and gives the exit code that it stands for. */
export function reportError(error: unknown, subject?: string): ExitCode {
  const { code, text } = explain(error)
  if (code !== EXIT.interrupted) {
    process.stderr.write(`${printable(subject ?? 'pinhole')}: ${printable(text)}\n`)
  }
  return code
}

export function explain(error: unknown): { code: ExitCode; text: string } {
  if (isAbort(error)) return { code: EXIT.interrupted, text: 'Interrupted.' }
  if (error instanceof ServerRefusal) return { code: EXIT.refused, text: withAdvice(error) }
  if (error instanceof Refusal) return { code: EXIT.file, text: error.detail }
  if (error instanceof FileError) return { code: EXIT.file, text: error.message }
  if (error instanceof UsageError || error instanceof TypeError)
    return { code: EXIT.usage, text: error.message }
  if (error instanceof NoService) return { code: EXIT.unreachable, text: error.message }
  if (error instanceof Unreachable) {
    const advice =
      'Check the address (--server, PINHOLE_SERVER or `pinhole use`) and the network, then try again.'
    return { code: EXIT.unreachable, text: `${error.message}. ${advice}` }
  }
  return { code: EXIT.failed, text: error instanceof Error ? error.message : String(error) }
}

function withAdvice({ code, detail, retryAfterSeconds }: ServerRefusal): string {
  if (code === 'quota-exceeded' && retryAfterSeconds !== undefined) {
    const at = new Date(Date.now() + retryAfterSeconds * 1000)
    return `${detail} Try again after ${at.toLocaleString()}.`
  }
  if (code === 'unknown-key') return `${detail} \`pinhole list\` shows the keys that this machine knows.`
  return detail
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
