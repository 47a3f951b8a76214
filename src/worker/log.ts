/** Writes JSON lines for Workers Logs. */
import type { Log } from '../http/log.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export function createLog(minLevel: string): Log {
  const min = LEVELS.indexOf(minLevel)
  const write = (level: 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (LEVELS.indexOf(level) < min) return
    console[level](
      JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message }, errorReplacer),
    )
  }
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

/** JSON replacer for errors, whose properties are not enumerable. */
function errorReplacer(_name: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { type: name, message, stack, ...(cause !== undefined && { cause }) }
}
