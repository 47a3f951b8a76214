import type { Reply, Request } from './messages.ts'

/** A running Web Worker or Node worker thread. */
interface WorkerHandle {
  post(request: Request): void
  /** A busy worker keeps the process alive, an idle one doesn't. */
  setBusy(busy: boolean): void
  terminate(): void
}

/** What the engine needs from its platform. */
export interface EngineHost {
  /** `onLost`: the worker could not start, or crashed. No event follows it. */
  startWorker(events: { onReply(reply: Reply): void; onLost(): void }): WorkerHandle
  maxWorkers: number
  /** The largest image that fits into memory right now. Unit: pixels. */
  maxPixels(): number
  /**
   * Called when no worker could start. `compress` rejects with anything this throws; otherwise images are only scrubbed, with
   * the fallback `no-worker`.
   */
  noWorker?(): void
  /** The blob, or a copy of it, in a form that can be posted to a worker. */
  sendable(blob: Blob): Promise<Blob>
}

/** Exclusive use of a worker for one job. */
export interface Lease {
  post(request: Request): void
  /** `listener` receives every reply, and `null` when the worker is lost. */
  listen(listener: (reply: Reply | null) => void): void
  /** False until the worker's script has run. */
  readonly started: boolean
  /**
   * Returns the worker to the pool after a job of this size, or terminates it (`end`). WebAssembly memory never shrinks, and
   * a codec's state after a failure is not trusted.
   */
  release(megapixels: number | 'end'): void
}

export interface Pool {
  /** Waits for a free worker. Rejects with the signal's reason. */
  lease(signal?: AbortSignal): Promise<Lease>
  /** Starts a worker, unless one is idle, and keeps it for a minute. `codecs`: also load those for a type. */
  warmUp(codecs: 'jpeg' | 'png' | null): void
}

/** A worker is replaced after one large job, or after this many megapixels in total. */
const LARGE_JOB_MEGAPIXELS = 16
const LIFETIME_MEGAPIXELS = 64
const IDLE_MS = 15_000
/** Time for a visitor to choose an image. */
const WARM_MS = 60_000

interface PooledWorker {
  handle: WorkerHandle
  started: boolean
  listener: ((reply: Reply | null) => void) | null
  megapixels: number
  idleTimer?: ReturnType<typeof setTimeout>
}

export function createPool(host: EngineHost): Pool {
  const idle: PooledWorker[] = []
  const waiting: (() => void)[] = []
  let busy = 0

  function start(): PooledWorker {
    const handle = host.startWorker({
      onReply(reply) {
        worker.started = true
        worker.listener?.(reply)
      },
      onLost() {
        drop(worker)
        worker.listener?.(null)
      },
    })
    const worker: PooledWorker = { handle, started: false, listener: null, megapixels: 0 }
    return worker
  }

  function drop(worker: PooledWorker): void {
    clearTimeout(worker.idleTimer)
    const at = idle.indexOf(worker)
    if (at >= 0) idle.splice(at, 1)
    worker.handle.terminate()
  }

  function makeIdle(worker: PooledWorker, idleMs = IDLE_MS): void {
    worker.listener = null
    worker.handle.setBusy(false)
    worker.idleTimer = setTimeout(() => drop(worker), idleMs)
    // In Node the timer would keep the process alive; in browsers it is a number.
    worker.idleTimer.unref?.()
    idle.push(worker)
  }

  /** Hands the slot to the next waiter, if there is one: a new caller must not take it first. */
  function freeSlot(): void {
    const next = waiting.shift()
    if (next === undefined) busy--
    else next()
  }

  function leaseOf(worker: PooledWorker): Lease {
    clearTimeout(worker.idleTimer)
    worker.handle.setBusy(true)
    return {
      post: (request) => worker.handle.post(request),
      listen: (listener) => {
        worker.listener = listener
      },
      get started() {
        return worker.started
      },
      release(megapixels) {
        if (megapixels !== 'end') worker.megapixels += megapixels
        const isWornOut =
          megapixels === 'end' || megapixels > LARGE_JOB_MEGAPIXELS || worker.megapixels > LIFETIME_MEGAPIXELS
        if (isWornOut) drop(worker)
        else makeIdle(worker)
        freeSlot()
      },
    }
  }

  return {
    async lease(signal) {
      signal?.throwIfAborted()
      if (busy < host.maxWorkers) busy++
      else await waitForSlot(waiting, signal)
      try {
        // The job that freed the slot may have been cancelled by the same signal.
        signal?.throwIfAborted()
        return leaseOf(idle.pop() ?? start())
      } catch (error) {
        freeSlot()
        throw error
      }
    },
    warmUp(codecs) {
      if (busy > 0) return
      const worker = idle.pop() ?? start()
      const lease = leaseOf(worker)
      if (codecs) lease.post({ kind: 'prepare', codecs })
      makeIdle(worker, WARM_MS)
    },
  }
}

/** Queues the caller until a slot is handed to it. Leaves the queue and rejects if the signal aborts first. */
function waitForSlot(waiting: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const grant = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      waiting.splice(waiting.indexOf(grant), 1)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    waiting.push(grant)
  })
}
