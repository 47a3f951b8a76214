/** Classifies file-system errors. Node only. */

export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(error.code as string)
}

/** The disk is full, or the user's quota is used up. */
export function isFull(error: unknown): boolean {
  return isCode(error, 'ENOSPC', 'EDQUOT')
}

/** Handler for `catch`: returns `value` if the file does not exist and rethrows every other error. */
export function unlessAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isCode(error, 'ENOENT')) return value
    throw error
  }
}

/** Handler for `catch`: ignores errors with one of `codes` and rethrows every other error. */
export function ignoring(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!isCode(error, ...codes)) throw error
  }
}
