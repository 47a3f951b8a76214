/** A failure that stops nobody, as a line of the log. */
import type { Log } from '../http/log.ts'

/** `id`: of the image that it is about; `null` if it is about a whole round. */
export function warning(log: Log, message: string): (err: unknown, id?: string | null) => void {
  return (err, id) => log.warn({ err, ...(id !== undefined && { id }) }, message)
}
