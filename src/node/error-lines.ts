import { ConfigError } from '../config.ts'

/** The user-facing lines of a fatal error: all mistakes in the configuration, or the message and its causes. */
export function linesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.mistakes
  const { message, cause } = error as Error
  return [message, ...(cause instanceof Error ? linesOf(cause) : [])]
}
