/** A row of the table of variables. */
export interface Variable<T> {
  /** In the environment. */
  name: string
  fallback: string
  meaning: string
  /** Throws an `Error` that says what the value should be. */
  parse(text: string): T
  /** The value may hold a password: it is not printed. */
  isSecret: boolean
}

export function variable<T>(
  name: string,
  fallback: string,
  meaning: string,
  parse: (text: string) => T,
  isSecret = false,
): Variable<T> {
  return { name, fallback, meaning, parse, isSecret }
}

/** Every mistake, one a line. */
export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}
