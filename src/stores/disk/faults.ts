/** What the file system's errors say. Node only. */

export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(error.code as string)
}

/** No room is left on the disk, or in what a user may have of it. */
export function isFull(error: unknown): boolean {
  return isCode(error, 'ENOSPC', 'EDQUOT')
}

/** For a `catch`: what is not there counts as `value`. */
export function unlessAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isCode(error, 'ENOENT')) return value
    throw error
  }
}
