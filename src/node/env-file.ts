/** Loads variables from a file in the format of systemd's `EnvironmentFile=` (systemd.exec(5)). No shell is involved. */
import { readFileSync } from 'node:fs'

/** A value's quoted parts, then an unquoted one up to its end, where quotes are ordinary characters. */
const PARTS = /\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|([^'"\s].*))/gsy

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Adds the file's variables to the environment; variables already set there win. Throws an `Error` that names the line. */
export function loadEnvFile(path: string): void {
  const variables = parseEnvFile(readFileSync(path, 'utf8'), path)
  for (const [name, value] of variables) process.env[name] ??= value
}

/** `path` is only used in messages. */
export function parseEnvFile(text: string, path: string): Map<string, string> {
  const variables = new Map<string, string>()
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; at++) {
    const number = at + 1
    let line = lines[at]!
    if (/^\s*([#;]|$)/.test(line)) continue
    // A trailing backslash continues the line.
    while (/(^|[^\\])(\\\\)*\\$/.test(line) && at + 1 < lines.length) line = line.slice(0, -1) + lines[++at]
    const [name, value] = assignment(line) ?? []
    if (name === undefined || value === undefined) {
      throw new Error(`${path}, line ${number}: write NAME=value, with closed quotes`)
    }
    variables.set(name, value)
  }
  return variables
}

function assignment(line: string): [string, string] | null {
  const equals = line.indexOf('=')
  const name = line.slice(0, Math.max(0, equals)).trim()
  if (!NAME.test(name)) return null
  const text = line.slice(equals + 1).trim()
  let value = ''
  let end = 0
  for (const [match, single, double, plain] of text.matchAll(PARTS)) {
    end += match.length
    // A backslash escapes the next character; in double quotes only those that are special there.
    value += single ?? double?.replace(/\\(["\\`$])/g, '$1') ?? plain!.replace(/\\(.)/gs, '$1')
  }
  return end === text.length ? [name, value] : null
}
