/** Starts the real server as its own process, on a free port and a folder of its own. */

import { rm } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bunBinary, denoBinary } from '../../../scripts/runtimes.ts'
import { newFolder } from '../folder.ts'
import { operate } from './operator.ts'
import { type Env, killGroup, launch, NODE, type Process, type Ran, run } from './process.ts'

/** A machine that is busy with other tests takes long. */
const START_MS = 60_000
/** More than the 30 s that a server may take to finish what is under way. */
const END_MS = 40_000

export interface StartOptions {
  /** A folder that the caller made and removes. Without it, a temporary one, removed by `stop`. */
  dataDir?: string
  /** Arguments for Node, before the file. */
  nodeArguments?: string[]
  /** Another program than Node with the sources, and its first words; `operator` after them is the operator's command. */
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
  /** `kill -9` of the server and its workers. The folder stays, for `restart`. */
  kill(): Promise<Ran>
  /** Starts again on the same folder, after ending what still runs; the port may be another one. */
  restart(env?: Env): Promise<void>
  operator(words: string[]): Promise<Ran>
}

export async function startServer(env: Env = {}, options: StartOptions = {}): Promise<RunningServer> {
  const dataDir = options.dataDir ?? (await newFolder())
  const forget = async () => {
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true })
  }
  const { program, words } = options.program
    ? { program: options.program.file, words: options.program.words }
    : serverCommand(env, options.nodeArguments)
  const live = (env: Env) => listening(launch(words, env, program))
  let settings = serverEnv(env, dataDir)
  let life = await live(settings).catch(async (error) => {
    await forget()
    throw error
  })
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const { child, pid, ended } = life
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    const timer = setTimeout(killGroup, END_MS, pid)
    return ended.finally(() => clearTimeout(timer))
  }
  return {
    get url() {
      return `http://127.0.0.1:${life.port}`
    },
    get baseUrl() {
      return settings.BASE_URL ?? `http://localhost:${life.port}`
    },
    get port() {
      return life.port
    },
    get pid() {
      return life.pid
    },
    dataDir,
    stdout: () => life.output.stdout,
    stderr: () => life.output.stderr,
    end,
    async stop(signal) {
      const ran = await end(signal)
      await forget()
      return ran
    },
    kill() {
      killGroup(life.pid)
      return life.ended
    },
    async restart(more = {}) {
      await end()
      settings = { ...settings, ...more }
      life = await live(settings)
    },
    operator: (arguments_) =>
      options.program
        ? run([...words, 'operator', ...arguments_], settings, options.program.file)
        : operate(arguments_, settings),
  }
}

/** One that stops when the test ends. */
export async function serverFor(
  t: Pick<TestContext, 'after'>,
  env?: Env,
  options?: StartOptions,
): Promise<RunningServer> {
  const server = await startServer(env, options)
  t.after(() => server.stop())
  return server
}

/** What starts the server. `PINHOLE_RUNTIME`: on `bun` or `deno` instead of Node. */
function serverCommand(env: Env, nodeArguments: string[] = []): { program: string; words: string[] } {
  // Neither reads NODE_OPTIONS.
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

/** The environment that a server under test gets. */
export function serverEnv(env: Env, dataDir: string): Env {
  return { PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, TRUSTED_PROXIES: '127.0.0.1/32', ...env }
}

/** The server, when it has said where it listens. */
async function listening(server: Process): Promise<Process & { port: number }> {
  let timer: NodeJS.Timeout | undefined
  try {
    const port = await new Promise<number>((resolve, reject) => {
      const { stdout } = server.child
      const fail = (why: string) =>
        reject(new Error(`${why}\n-- stdout\n${server.output.stdout}\n-- stderr\n${server.output.stderr}`))
      timer = setTimeout(fail, START_MS, 'the server printed no address in time')
      stdout?.on('data', () => {
        // Where links begin elsewhere, both addresses are printed.
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
