/** Structured logs on standard error, one JSON object per line. */
import { type Logger, pino } from 'pino'

/** Most that is kept for a later try while a line can't be written. Unit: bytes. */
const MAX_UNWRITTEN = 65_536

export function createLog(level: string): Logger {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: MAX_UNWRITTEN })
  // A full disk under the log must not stop the server.
  destination.on('error', () => {})
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
