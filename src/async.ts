/** Timing and concurrency primitives. Imports nothing. */

/** Resolves after `ms` milliseconds, or immediately if `ms` is 0 or less. */
export function sleep(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))
}

/**
 * The current event-loop iteration, as counted by libuv. `NaN` where the runtime does not count iterations (Bun, Deno), so
 * that no two calls compare as equal or adjacent.
 */
export function tickNumber(): number {
  const { nodeTiming } = performance as { nodeTiming?: { uvMetricsInfo?: { loopCount: number } } }
  return nodeTiming?.uvMetricsInfo?.loopCount ?? Number.NaN
}

/** Caches a `true` result of `check` for the rest of the event-loop iteration. `false` is not cached. */
export function oncePerTick(check: () => boolean): () => boolean {
  let trueAtTick = Number.NaN
  return () => {
    const tick = tickNumber()
    if (trueAtTick === tick) return true
    if (!check()) return false
    trueAtTick = tick
    return true
  }
}

/** Unit: milliseconds. */
export interface Backoff {
  firstMs: number
  maxMs: number
}

/** For background work: purges, notices, moves. */
const BACKGROUND_BACKOFF: Backoff = { firstMs: 1000, maxMs: 5 * 60_000 }

/** Bounds for a `Retry-After` sent by another service. */
const MIN_RETRY_AFTER_MS = 1000
export const MAX_RETRY_AFTER_MS = 3_600_000

/** Exponential backoff with jitter: the delay after `attempts` failures. Unit: milliseconds. */
export function backoffMs(attempts: number, { firstMs, maxMs }: Backoff = BACKGROUND_BACKOFF): number {
  const ceilingMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempts, 20))
  return Math.round(ceilingMs * (0.5 + Math.random() / 2))
}

/** Clamps the delay from a `Retry-After` header to a sane range. `undefined` stays `undefined`. Unit: milliseconds. */
export function clampRetryAfterMs(retryAfterMs: number | undefined): number | undefined {
  if (retryAfterMs === undefined) return undefined
  return Math.min(Math.max(retryAfterMs, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS)
}

/** A job that runs at an interval; runs never overlap. */
export interface IntervalJob {
  /** Starts a run, unless one is in progress. */
  run(): void
  /** Starts a run, or queues another one after the run in progress, so that a run sees everything before this call. */
  runAgain(): void
  /** Starts a run now and then at every interval. */
  start(): void
  /** Stops scheduling runs. Resolves when the run in progress has ended. */
  stop(): Promise<void>
}

/** A service's interval job. `stop` resolves when the run in progress has ended. */
export type BackgroundJob = Pick<IntervalJob, 'start' | 'stop'>

/**
 * `work` can check whether the job is stopping, so that a long run ends early. `onFailure` receives whatever `work` throws.
 * `isFirstDone`: `start` waits one interval before the first run. `keepsAlive`: whether the timer keeps the process alive
 * (default: true).
 */
export function createIntervalJob(
  work: (isStopping: () => boolean) => Promise<void> | void,
  everyMs: number,
  onFailure: (error: unknown) => void,
  { isFirstDone = false, keepsAlive = true } = {},
): IntervalJob {
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<void> | undefined
  let isAnotherDue = false
  let isStopping = false

  function run(): void {
    running ??= (async () => work(() => isStopping))()
      .catch(onFailure)
      .finally(() => {
        running = undefined
        if (!isAnotherDue) return
        isAnotherDue = false
        run()
      })
  }

  return {
    run,
    runAgain() {
      if (running === undefined) run()
      else isAnotherDue = true
    },
    start() {
      isStopping = false
      timer ??= setInterval(run, everyMs)
      // In browsers and Workers, timers are numbers.
      if (!keepsAlive && typeof timer === 'object') timer.unref()
      if (!isFirstDone) run()
    },
    async stop() {
      clearInterval(timer)
      timer = undefined
      isAnotherDue = false
      isStopping = true
      await running
    },
  }
}

/** In-flight work by key. */
export interface InFlight {
  /** Mutex: runs `work` once no other work with the same key is in flight. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Single flight: joins in-flight work with the same key, or runs `work`. */
  share<T>(key: string, work: () => Promise<T>): Promise<T>
}

export function createInFlight(): InFlight {
  const running = new Map<string, Promise<unknown>>()
  const ignore = () => {}

  async function begin<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = work()
    running.set(key, done)
    try {
      return await done
    } finally {
      running.delete(key)
    }
  }

  return {
    async run(key, work) {
      while (running.has(key)) await running.get(key)!.then(ignore, ignore)
      return begin(key, work)
    },
    share: <T>(key: string, work: () => Promise<T>) =>
      (running.get(key) as Promise<T> | undefined) ?? begin(key, work),
  }
}

/** Limits concurrency. */
export interface Semaphore {
  /** Runs `work` once a permit is available. Waiters are served in FIFO order. */
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createSemaphore(permits: number): Semaphore {
  let acquired = 0
  const waiting: (() => void)[] = []

  return {
    async run(work) {
      // A released permit goes straight to the next waiter, so none is free while anyone waits.
      if (acquired < permits) acquired++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) acquired--
        else next()
      }
    },
  }
}

/** Runs `work` on each item with at most `width` in flight. Rejects with the first failure. */
export async function forEachConcurrent<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items.values()
  const worker = async () => {
    for (const item of remaining) await work(item)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Consecutive slices of at most `size` items. */
export function batchesOf<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size))
}

/** Settles like `work`, or rejects with `onTimeout()` after `ms` milliseconds. A later result of `work` is dropped. */
export function withDeadline<T>(work: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms)
  })
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer))
}

/** Fire-and-forget work: failures are ignored, and only shutdown waits for it. */
export interface BackgroundTasks {
  add(work: Promise<unknown>): void
  /** Resolves when everything added so far has settled. */
  settled(): Promise<void>
}

export function createBackgroundTasks(): BackgroundTasks {
  const inFlight = new Set<Promise<void>>()
  return {
    add(work) {
      const ended: Promise<void> = work.then(
        () => void inFlight.delete(ended),
        () => void inFlight.delete(ended),
      )
      inFlight.add(ended)
    },
    async settled() {
      await Promise.all(inFlight)
    },
  }
}

/** Caches a successful call for `ttlMs`; concurrent callers share one call. Failures are not cached. */
export function cacheSuccess(ttlMs: number, call: () => Promise<void>): () => Promise<void> {
  const inFlight = createInFlight()
  let succeededAt = -Infinity
  return async () => {
    if (performance.now() - succeededAt < ttlMs) return
    await inFlight.share('call', call)
    succeededAt = performance.now()
  }
}
