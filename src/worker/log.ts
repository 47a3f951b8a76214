/** Lines of JSON, for Workers Logs. */
import type { Log } from '../http/log.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** `least`: of lines that are written. */
export function createLog(least: string): Log {
  const from = LEVELS.indexOf(least)
  const write = (level: 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (LEVELS.indexOf(level) < from) return
    console[level](JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message }, plain))
  }
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

/** Errors have no members of their own to be written. */
function plain(_name: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { type: name, message, stack, ...(cause !== undefined && { cause }) }
}
