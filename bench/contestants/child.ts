/** Starts, samples and stops a measured server in a child process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { peakMegabytes, residentMegabytes } from '../../test/support/attack/process-costs.ts'
import { freePort } from '../../test/support/processes/caches.ts'

export interface Child {
  url: string
  pid: number
  /** Time from the spawn to the first 200. Unit: milliseconds. */
  startMs: number
  /** Unit: MB. */
  memory(): { resident: number; peak: number }
  stop(): Promise<void>
}

interface ChildOptions {
  command: string
  args: (port: number) => string[]
  env?: (port: number) => Record<string, string>
  cwd?: string
  /** The file for its output. */
  logPath: string
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 35_000
const running = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

/** The server is ready once GET /healthz returns 200. */
export async function startChild({ command, args, env, cwd, logPath }: ChildOptions): Promise<Child> {
  const port = await freePort()
  const log = openSync(logPath, 'a')
  const startedAt = performance.now()
  const child = spawn(command, args(port), {
    cwd,
    env: { ...process.env, ...env?.(port) },
    stdio: ['ignore', log, log],
  })
  running.add(child)
  let isStopping = false
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  ended.then(() => {
    running.delete(child)
    if (!isStopping) console.error(`${command} ${args(port).join(' ')} died:\n${endOf(logPath)}`)
  })
  const url = `http://127.0.0.1:${port}`

  while ((await statusOf(`${url}/healthz`)) !== 200) {
    if (child.exitCode !== null || performance.now() - startedAt > START_TIMEOUT_MS) {
      child.kill('SIGKILL')
      isStopping = true
      throw new Error(`${command} did not start:\n${endOf(logPath)}`)
    }
    await sleep(2)
  }
  return {
    url,
    pid: child.pid!,
    startMs: performance.now() - startedAt,
    memory: () => ({ resident: residentMegabytes(child.pid!), peak: peakMegabytes(child.pid!) }),
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

function endOf(logPath: string): string {
  return readFileSync(logPath, 'utf8').slice(-2000)
}

function statusOf(url: string): Promise<number> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', () => resolve(0))
  })
}
