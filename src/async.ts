/** Timing and concurrency: one of each kind. Imports nothing. */

/** Resolves after `ms`; at once where that is 0 or less. Unit: milliseconds. */
export function sleep(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))
}

/**
 * Which iteration of the event loop this is, by libuv's own count. `NaN` where the runtime does not count (Bun, Deno): no two
 * are the same then, and none is near another.
 */
export function tickNumber(): number {
  const { nodeTiming } = performance as { nodeTiming?: { uvMetricsInfo?: { loopCount: number } } }
  return nodeTiming?.uvMetricsInfo?.loopCount ?? Number.NaN
}

/** `check`, run at most once an iteration of the event loop as long as it is true. */
export function oncePerTick(check: () => boolean): () => boolean {
  let trueIn = Number.NaN
  return () => {
    const tick = tickNumber()
    if (trueIn === tick) return true
    if (!check()) return false
    trueIn = tick
    return true
  }
}

/** Unit: milliseconds. */
export interface Backoff {
  firstMs: number
  maxMs: number
}

/** For work that nobody waits for: purges, notices, moves. */
export const BACKGROUND_BACKOFF: Backoff = { firstMs: 1000, maxMs: 5 * 60_000 }

/** Bounds of what a `Retry-After` may ask for. */
const MIN_RETRY_AFTER_MS = 1000
export const MAX_RETRY_AFTER_MS = 3_600_000

/**
 * Time until the next attempt of what failed `attempts` times: doubles with each failure, and a random half of it keeps
 * processes apart. Unit: milliseconds.
 */
export function backoffMs(attempts: number, { firstMs, maxMs }: Backoff = BACKGROUND_BACKOFF): number {
  const most = Math.min(maxMs, firstMs * 2 ** Math.min(attempts, 20))
  return Math.round(most * (0.5 + Math.random() / 2))
}

/** The wait that an answer asked for, within reason. `undefined`: it asked for none. Unit: milliseconds. */
export function clampRetryAfterMs(retryAfterMs: number | undefined): number | undefined {
  if (retryAfterMs === undefined) return undefined
  return Math.min(Math.max(retryAfterMs, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS)
}

/** Work done at an interval, never twice at the same time. */
export interface IntervalJob {
  /** Runs it, unless it is running. */
  run(): void
  /** Runs it now, or again as soon as it has ended: what happened before this call is seen. */
  runAgain(): void
  /** Runs it, and then once an interval. */
  start(): void
  /** Runs it no more. Resolves when it has ended. */
  stop(): Promise<void>
}

/** What a service does at an interval. `stop` resolves when the round under way has ended. */
export type BackgroundJob = Pick<IntervalJob, 'start' | 'stop'>

/**
 * `work` can ask whether the job is stopping, so that a long run ends early. `onFailure` is given what `work` throws.
 * `isFirstDone`: `start` waits an interval before the first run. `keepsAlive`: whether the timer keeps the process running;
 * by default it does.
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
      // Browsers and Workers have numbers for timers.
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

/** Work that is under way, by key. */
export interface InFlight {
  /** Runs `work` when none of the same key runs any more. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Joins the work of the same key that runs, or runs `work`. */
  share<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Resolves when none of `key` runs. Never rejects. */
  settled(key: string): Promise<void>
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

  async function settled(key: string): Promise<void> {
    while (running.has(key)) await running.get(key)!.then(ignore, ignore)
  }

  return {
    async run(key, work) {
      // Not `settled`: between its end and this one's beginning another could begin.
      while (running.has(key)) await running.get(key)!.then(ignore, ignore)
      return begin(key, work)
    },
    share: <T>(key: string, work: () => Promise<T>) =>
      (running.get(key) as Promise<T> | undefined) ?? begin(key, work),
    settled,
  }
}

/** Limits concurrency. */
export interface Semaphore {
  /** Runs `work` when there is a permit; those that wait run in the order in which they came. */
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createSemaphore(permits: number): Semaphore {
  let acquired = 0
  const waiting: (() => void)[] = []

  return {
    async run(work) {
      // A permit is handed over: none is free while somebody waits.
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

/** Runs `work` on each item, at most `width` at a time. Rejects with the first failure. */
export async function forEachConcurrent<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const lane = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

/** Settles as `work` does, or rejects with `late()` after `ms` milliseconds. What `work` comes to later is dropped. */
export function withDeadline<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer))
}

/** Background work: its failures are ignored, and only a shutdown waits for it. */
export interface BackgroundTasks {
  add(work: Promise<unknown>): void
  /** Resolves when all that was added has ended. */
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

/** Callers at one time share a call, and its success holds for a while. */
export function cacheSuccess(holdsMs: number, call: () => Promise<void>): () => Promise<void> {
  const inFlight = createInFlight()
  let succeededAt = -Infinity
  return async () => {
    if (performance.now() - succeededAt < holdsMs) return
    await inFlight.share('call', call)
    succeededAt = performance.now()
  }
}
