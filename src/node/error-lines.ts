import { ConfigError } from '../config.ts'

/** What a person reads of an error that ends a program: every mistake of the configuration, or the message and its causes. */
export function linesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.mistakes
  const { message, cause } = error as Error
  return [message, ...(cause instanceof Error ? linesOf(cause) : [])]
}
