/** Starts the real server in a child process, on a free port and with a new data folder. */

import { rm } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bunBinary, denoBinary } from '../../../scripts/runtimes.ts'
import { buildAssets } from '../../../src/node/assets/build.ts'
import { newFolder } from '../folder.ts'
import { operate } from './operator.ts'
import { type Env, killGroup, launch, NODE, type Process, type Ran, run } from './process.ts'

/** Generous, for machines that are busy with other tests. */
const START_MS = 60_000
/** More than the 30 s that a server may take to drain requests in flight. */
const END_MS = 40_000

export interface StartOptions {
  /** A folder that the caller creates and removes. Default: a temporary one, removed by `stop`. */
  dataDir?: string
  /** Arguments for Node, before the file. */
  nodeArguments?: string[]
  /** A program other than Node with the sources, and its first arguments. With `operator` after them, it is the CLI. */
  program?: { file: string; words: string[] }
}

export interface RunningServer {
  readonly url: string
  readonly baseUrl: string
  readonly port: number
  readonly pid: number
  readonly dataDir: string
  stdout(): string
  stderr(): string
  /** Signals the server, waits for its end, and removes its temporary folder. */
  stop(signal?: NodeJS.Signals): Promise<Ran>
  /** Signals the server and waits for its end. The folder stays, for `restart`. */
  end(signal?: NodeJS.Signals): Promise<Ran>
  /** Sends SIGKILL to the server and its workers. The folder stays, for `restart`. */
  kill(): Promise<Ran>
  /** Starts again on the same folder, after ending the server if it still runs. The port may change. */
  restart(env?: Env): Promise<void>
  operator(words: string[]): Promise<Ran>
}

export async function startServer(env: Env = {}, options: StartOptions = {}): Promise<RunningServer> {
  const dataDir = options.dataDir ?? (await newFolder())
  const removeTemporary = async () => {
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true })
  }
  const { program, words } = options.program
    ? { program: options.program.file, words: options.program.words }
    : serverCommand(env, options.nodeArguments)
  const start = (env: Env) => listening(launch(words, env, program))
  if (!options.program) {
    pages ??= buildAssets().catch(() => {})
    await pages
  }
  let settings = serverEnv(env, dataDir)
  let current = await start(settings).catch(async (error) => {
    await removeTemporary()
    throw error
  })
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const { child, pid, ended } = current
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    const timer = setTimeout(killGroup, END_MS, pid)
    return ended.finally(() => clearTimeout(timer))
  }
  return {
    get url() {
      return `http://127.0.0.1:${current.port}`
    },
    get baseUrl() {
      return settings.BASE_URL ?? `http://localhost:${current.port}`
    },
    get port() {
      return current.port
    },
    get pid() {
      return current.pid
    },
    dataDir,
    stdout: () => current.output.stdout,
    stderr: () => current.output.stderr,
    end,
    async stop(signal) {
      const ran = await end(signal)
      await removeTemporary()
      return ran
    },
    kill() {
      killGroup(current.pid)
      return current.ended
    },
    async restart(more = {}) {
      await end()
      settings = { ...settings, ...more }
      current = await start(settings)
    },
    operator: (arguments_) =>
      options.program
        ? run([...words, 'operator', ...arguments_], settings, options.program.file)
        : operate(arguments_, settings),
  }
}

/**
 * The server would build the pages too, but on a slow machine, that takes longer than a start may. Whether they can't be built
 * is left to it.
 */
let pages: Promise<void> | undefined

/** Whether a server answers at this address, and is ready. */
export async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => null)
  return answer?.ok ?? false
}

/** Starts a server that stops when the test ends. */
export async function serverFor(
  t: Pick<TestContext, 'after'>,
  env?: Env,
  options?: StartOptions,
): Promise<RunningServer> {
  const server = await startServer(env, options)
  t.after(() => server.stop())
  return server
}

/** The command that starts the server. `PINHOLE_RUNTIME`: `bun` or `deno` instead of Node. */
function serverCommand(env: Env, nodeArguments: string[] = []): { program: string; words: string[] } {
  // Bun and Deno ignore NODE_OPTIONS.
  const [, preload] = /^--import (\S+)$/.exec(env.NODE_OPTIONS ?? '') ?? []
  const more = preload === undefined ? [] : ['--preload', fileURLToPath(preload)]
  switch (process.env.PINHOLE_RUNTIME) {
    case 'bun':
      return { program: bunBinary(), words: [...more, 'src/node.ts'] }
    case 'deno':
      return { program: denoBinary(), words: ['run', '--allow-all', '--no-check', ...more, 'src/node.ts'] }
    default:
      return { program: NODE, words: [...nodeArguments, 'bin/serve.mjs'] }
  }
}

/** Environment of a server under test. */
export function serverEnv(env: Env, dataDir: string): Env {
  return { PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, TRUSTED_PROXIES: '127.0.0.1/32', ...env }
}

/** Waits until the server has printed its address. */
async function listening(server: Process): Promise<Process & { port: number }> {
  let timer: NodeJS.Timeout | undefined
  try {
    const port = await new Promise<number>((resolve, reject) => {
      const { stdout } = server.child
      const fail = (reason: string) =>
        reject(new Error(`${reason}\n-- stdout\n${server.output.stdout}\n-- stderr\n${server.output.stderr}`))
      timer = setTimeout(fail, START_MS, 'the server printed no address in time')
      stdout?.on('data', () => {
        // If BASE_URL differs, both addresses are printed.
        const address = /http:\/\/\S+:(\d+)\n/.exec(server.output.stdout)
        if (address) resolve(Number(address[1]))
      })
      server.ended.then((ran) => fail(`the server ended with ${ran.code ?? ran.signal}`))
    })
    return { ...server, port }
  } catch (error) {
    killGroup(server.pid)
    throw error
  } finally {
    clearTimeout(timer)
  }
}
