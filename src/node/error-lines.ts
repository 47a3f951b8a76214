import { ConfigError } from '../config.ts'

/** The user-facing lines of a fatal error: all mistakes in the configuration, or the message and its causes. */
export function linesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.mistakes
  const { message, code, cause } = error as NodeJS.ErrnoException
  // The error of a host none of whose addresses answers has no message.
  return [message || `${code}`, ...(cause instanceof Error ? linesOf(cause) : [])]
}
