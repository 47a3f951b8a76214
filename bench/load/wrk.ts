/** Runs wrk and reads what it prints. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface WrkRun {
  url: string
  connections: number
  seconds: number
  headers?: Record<string, string>
  /** The one processor that it may use. */
  core?: number | undefined
  /** A Lua file, and what it is called with. */
  script?: { path: string; args: string[] }
}

export interface WrkResult {
  requestsPerSecond: number
  requests: number
}

/** Throws if wrk met an answer that is not 2xx or 3xx, or a broken connection. */
export async function wrk({
  url,
  connections,
  seconds,
  script,
  headers = {},
  core,
}: WrkRun): Promise<WrkResult> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  if (script) args.push('-s', script.path)
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  args.push(url)
  if (script) args.push('--', ...script.args)
  const [command, words] = core === undefined ? ['wrk', args] : ['taskset', ['-c', `${core}`, 'wrk', ...args]]
  const { stdout } = await promisify(execFile)(command as string, words as string[])
  return parse(stdout)
}

function parse(output: string): WrkResult {
  const failures = /Non-2xx or 3xx responses: .*|Socket errors: .*/.exec(output)
  if (failures) throw new Error(`wrk saw failures: ${failures[0]}`)
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(output)
  const total = /(\d+) requests in/.exec(output)
  if (!rate || !total || total[1] === '0') throw new Error(`wrk measured nothing:\n${output}`)
  return { requestsPerSecond: Number(rate[1]), requests: Number(total[1]) }
}
