/** Several processes on one port and one data folder. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Config } from '../config.ts'
import { createSpool } from '../stores/drafts/spool.ts'
import { makePrivate } from '../stores/filesystem/layout.ts'
import { adminSocket, removeStale } from './admin/address.ts'
import { loadAssets } from './assets/load.ts'
import { createLog } from './log.ts'
import { sumOverWorkers } from './metrics/machine.ts'
import { draftFolder } from './open/stores.ts'

/** A worker that dies at once is not started again at once. */
const RESTART_MS = 1000

/** Where a process listens. */
export interface Address {
  baseUrl: string
  port: number
}

/**
 * Whether each worker has a listening socket of its own on the port, and the kernel shares connections out among them
 * (docs/decisions/059). Elsewhere they share one socket, and a free one takes the next connection.
 */
export const HAS_REUSE_PORT = process.platform === 'linux'

/** Resolves when all workers listen. Starts a new worker for one that dies, and removes the drafts it left. */
export async function superviseWorkers(config: Config, announce: (at: Address) => void): Promise<void> {
  const log = createLog(config.logLevel)
  const folder = draftFolder(config)
  await makePrivate(folder)
  const drafts = createSpool(folder)
  await drafts.sweep()
  // Otherwise this process would hand out connections, and those on their way to a worker that dies would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const reserved = HAS_REUSE_PORT ? await reservePort(config) : null
  const port = reserved?.port ?? config.port
  // A stale bundle is built once, not by every worker.
  await loadAssets((message) => log.warn({}, message))
  // Workers share the socket that this process opens for them.
  if (config.operatorListen.kind === 'socket') await removeStale(adminSocket(config)).catch(() => {})
  let isStopping = false
  let exitCode = 0
  let listening = 0

  function start(): void {
    cluster.fork({ PORT: port }).on('message', (at: Address | { metrics: string }) => {
      // Before it listens it may be asked for its metrics.
      if (!('baseUrl' in at) || ++listening !== config.workers) return
      reserved?.release()
      announce(at)
    })
  }

  sumOverWorkers()
  cluster.on('exit', (worker, code, signal) => {
    if (isStopping || listening < config.workers) {
      // One that can't start ends them all.
      if (!isStopping) exitCode = 1
      stop()
      return
    }
    log.error({ pid: worker.process.pid, code, signal }, 'a worker died and is started again')
    drafts.sweep(worker.process.pid).catch((err) => log.error({ err }, 'drafts were not removed'))
    setTimeout(() => {
      // A worker started now would get no SIGTERM.
      if (!isStopping) start()
    }, RESTART_MS)
  })

  function stop(): void {
    isStopping = true
    const workers = Object.values(cluster.workers ?? {})
    if (workers.length === 0) process.exit(exitCode)
    for (const worker of workers) worker?.process.kill('SIGTERM')
  }

  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  for (let i = 0; i < config.workers; i++) start()
}

/**
 * The port that workers will listen on, which is free now. A worker would not notice: sockets of one account that all
 * ask for it may share a port, those of another server too. A port that the system chose stays bound until `release`, or it
 * could be given to another process before the workers listen.
 */
async function reservePort({ host, port }: Config): Promise<{ port: number; release: () => void }> {
  const server = createServer()
  try {
    await once(server.listen({ host, port, reusePort: port === 0 }), 'listening')
  } catch (cause) {
    throw new Error(`cannot listen on ${host}:${port}`, { cause })
  }
  const { port: free } = server.address() as AddressInfo
  // Clients may know a configured port: what connects to this socket would get no answer.
  if (port !== 0) await once(server.close(), 'close')
  return { port: free, release: () => void server.close() }
}
