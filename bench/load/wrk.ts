/** Runs wrk and parses its output. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { BOUNDARY, bodyOf } from './multipart.ts'

/** A Lua script and its arguments. */
interface Script {
  path: string
  args: string[]
}

export interface WrkRun {
  url: string
  connections: number
  seconds: number
  headers?: Record<string, string>
  /** The core to bind wrk to. */
  core?: number | undefined
  script?: Script
}

export interface WrkResult {
  requestsPerSecond: number
  requests: number
}

/** A script that uploads the pictures in turn. `folder`: for the request bodies, which are built in advance. */
export async function uploadsOf(folder: string, pictures: Buffer[]): Promise<Script> {
  await mkdir(folder, { recursive: true })
  for (const [index, picture] of pictures.entries()) {
    await writeFile(path.join(folder, `${index + 1}.body`), bodyOf(picture))
  }
  return {
    path: path.join(import.meta.dirname, 'upload.lua'),
    args: [folder, String(pictures.length), BOUNDARY],
  }
}

/** A script that GETs images in random order. `file`: for the list of their paths. */
export async function readsOf(file: string, ids: string[]): Promise<Script> {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, ids.map((id) => `/raw/${id}\n`).join(''))
  return { path: path.join(import.meta.dirname, 'paths.lua'), args: [file] }
}

/** Throws when wrk saw a status other than 2xx or 3xx, or a socket error. */
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
  if (failures) throw new Error(`wrk reported failures: ${failures[0]}`)
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(output)
  const total = /(\d+) requests in/.exec(output)
  if (!rate || !total || total[1] === '0') throw new Error(`wrk measured nothing:\n${output}`)
  return { requestsPerSecond: Number(rate[1]), requests: Number(total[1]) }
}
