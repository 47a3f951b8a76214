/** Structured logs on standard error, one JSON object per line. */
import { type Logger, pino } from 'pino'

export function createLog(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  )
}
