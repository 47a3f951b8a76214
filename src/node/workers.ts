/** Several worker processes that share a port and a data folder. */
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

/** Delay before a dead worker is replaced, so that a crash loop does not spin. */
const RESTART_MS = 1000

/** A process's listening address. */
export interface Address {
  baseUrl: string
  port: number
}

/**
 * Whether each worker has its own listening socket on the port, with the kernel distributing connections among them
 * (docs/decisions/059). Otherwise workers share one socket, and any free worker accepts the next connection.
 */
export const HAS_REUSE_PORT = process.platform === 'linux'

/** Resolves when all workers are listening. Replaces workers that die, and removes their drafts. */
export async function superviseWorkers(config: Config, announce: (at: Address) => void): Promise<void> {
  const log = createLog(config.logLevel)
  const folder = draftFolder(config)
  await makePrivate(folder)
  const drafts = createSpool(folder)
  await drafts.sweep()
  // Round-robin would pass connections through this process, and those in transit to a dying worker would hang forever.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // The environment has the variables of --env-file, which may have changed since. This call fixes the policy.
  cluster.setupPrimary({ args: [] })
  const reserved = HAS_REUSE_PORT ? await reservePort(config) : null
  const port = reserved?.port ?? config.port
  // Build a stale bundle once, not in every worker.
  await loadAssets((message) => log.warn({}, message))
  // Workers share the socket that this process opens for them.
  if (config.operatorListen.kind === 'socket') await removeStale(adminSocket(config)).catch(() => {})
  let isStopping = false
  let exitCode = 0
  let listening = 0

  function start(): void {
    const worker = cluster.fork({ PORT: port })
    worker.on('message', (at: Address | { metrics: string }) => {
      // Metrics messages may arrive before the worker listens.
      if (!('baseUrl' in at) || ++listening !== config.workers) return
      reserved?.release()
      announce(at)
    })
    worker.on('error', (err) => {
      // Otherwise it has just died, and a message could not be sent to it.
      if (worker.process.pid !== undefined) return
      log.error({ err }, 'a worker could not be started')
      delete cluster.workers![worker.id]
      replace(false)
    })
  }

  sumOverWorkers()
  cluster.on('exit', (worker, code, signal) => {
    // These signals end a worker that is just starting, as it does not handle them yet.
    replace(code === 0 || signal === 'SIGTERM' || signal === 'SIGINT')
    if (isStopping) return
    log.error({ pid: worker.process.pid, code, signal }, 'a worker died and will be restarted')
    drafts
      .sweep(worker.process.pid)
      .catch((err) => log.error({ err }, 'could not remove a dead worker’s drafts'))
  })

  /** `isClean`: the worker ended as it should when the server stops. */
  function replace(isClean: boolean): void {
    if (isStopping || listening < config.workers) {
      // If a worker can't start, stop them all.
      if (!isStopping || !isClean) exitCode = 1
      stop()
      return
    }
    setTimeout(() => {
      // Once stopping, a new worker would not get the SIGTERM.
      if (!isStopping) start()
    }, RESTART_MS)
  }

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
 * Finds or checks the port that workers will listen on. Workers would not notice a conflict: any sockets of one account may
 * share a port with SO_REUSEPORT, even those of another server. A port chosen by the system stays bound until `release`, so
 * that no other process can take it before the workers listen.
 */
async function reservePort({ host, port }: Config): Promise<{ port: number; release: () => void }> {
  const server = createServer()
  try {
    await once(server.listen({ host, port, reusePort: port === 0 }), 'listening')
  } catch (cause) {
    throw new Error(`cannot listen on ${host}:${port}`, { cause })
  }
  const { port: free } = server.address() as AddressInfo
  // Clients may know a configured port already, and connections to this socket would never be answered.
  if (port !== 0) await once(server.close(), 'close')
  return { port: free, release: () => void server.close() }
}
