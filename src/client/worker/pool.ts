import type { Reply, Request } from './messages.ts'

/** A running worker, of a browser or of Node. */
interface WorkerHandle {
  post(request: Request): void
  /** A busy worker keeps the process alive, an idle one doesn't. */
  setBusy(busy: boolean): void
  terminate(): void
}

/** What the engine needs to know of the place where it runs. */
export interface EngineHost {
  /** `onLost`: the worker could not start, or crashed. It is the last event. */
  startWorker(events: { onReply(reply: Reply): void; onLost(error: Error): void }): WorkerHandle
  maxWorkers: number
  /** The largest picture that there is memory for at this moment. Unit: pixels. */
  maxPixels(): number
  /** No worker ever ran. What it throws, `compress` rejects with; else pictures go out uncompressed, and say so. */
  noWorker?(): void
  /** A blob that can be sent to a worker. */
  sendable(blob: Blob): Promise<Blob>
}

/** One job's hold on a worker. */
export interface Lease {
  post(request: Request): void
  /** Called with every reply, and with `null` when the worker is lost. */
  listen(listener: (reply: Reply | null) => void): void
  /** False until the worker's own script ran. */
  readonly started: boolean
  /** Gives the worker back, or ends it: WebAssembly memory never shrinks, and what a codec left is not trusted. */
  release(megapixels: number | 'end'): void
}

export interface Pool {
  /** Waits for a free worker. Rejects with the signal's reason. */
  lease(signal?: AbortSignal): Promise<Lease>
  /** Starts a worker, if none is idle, and keeps it for a minute. `codecs`: it loads those for photographs. */
  warmUp(codecs: boolean): void
}

/** A worker that handled so much is replaced. Unit: megapixels. */
const LARGE_JOB_MEGAPIXELS = 16
const LIFETIME_MEGAPIXELS = 64
const IDLE_MS = 15_000
/** Time to choose a picture. */
const WARM_MS = 60_000

interface Member {
  handle: WorkerHandle
  started: boolean
  listener: ((reply: Reply | null) => void) | null
  megapixels: number
  idleTimer?: ReturnType<typeof setTimeout>
}

export function createPool(host: EngineHost): Pool {
  const idle: Member[] = []
  const waiting: (() => void)[] = []
  let busy = 0

  function start(): Member {
    const handle = host.startWorker({
      onReply(reply) {
        member.started = true
        member.listener?.(reply)
      },
      onLost() {
        drop(member)
        member.listener?.(null)
      },
    })
    const member: Member = { handle, started: false, listener: null, megapixels: 0 }
    return member
  }

  function drop(member: Member): void {
    clearTimeout(member.idleTimer)
    const at = idle.indexOf(member)
    if (at >= 0) idle.splice(at, 1)
    member.handle.terminate()
  }

  function rest(member: Member, idleMs = IDLE_MS): void {
    member.listener = null
    member.handle.setBusy(false)
    member.idleTimer = setTimeout(() => drop(member), idleMs)
    // A timer of Node's would keep the process alive; a browser's is a number.
    member.idleTimer.unref?.()
    idle.push(member)
  }

  function hold(member: Member): Lease {
    clearTimeout(member.idleTimer)
    member.handle.setBusy(true)
    return {
      post: (request) => member.handle.post(request),
      listen: (listener) => {
        member.listener = listener
      },
      get started() {
        return member.started
      },
      release(megapixels) {
        if (megapixels !== 'end') member.megapixels += megapixels
        const worn =
          megapixels === 'end' || megapixels > LARGE_JOB_MEGAPIXELS || member.megapixels > LIFETIME_MEGAPIXELS
        if (worn) drop(member)
        else rest(member)
        busy--
        waiting.shift()?.()
      },
    }
  }

  return {
    async lease(signal) {
      signal?.throwIfAborted()
      if (busy >= host.maxWorkers) await turn(waiting, signal)
      busy++
      try {
        return hold(idle.pop() ?? start())
      } catch (error) {
        busy--
        waiting.shift()?.()
        throw error
      }
    },
    warmUp(codecs) {
      if (busy > 0) return
      const member = idle.pop() ?? start()
      const lease = hold(member)
      if (codecs) lease.post({ kind: 'prepare' })
      rest(member, WARM_MS)
    },
  }
}

/** Resolves when it is this one's turn; leaves the queue if the signal fires first. */
function turn(waiting: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      waiting.splice(waiting.indexOf(take), 1)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    waiting.push(take)
  })
}
