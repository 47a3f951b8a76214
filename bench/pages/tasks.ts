/** Reads tasks on a page's main thread from a Chromium trace. */

interface TraceEvent {
  name: string
  pid: number
  tid: number
  /** By the clock, and of the processor. Unit: microseconds. */
  dur?: number
  tdur?: number
  args?: { name?: string }
}

/** Unit: milliseconds. `processor`: without what other threads on the same cores took. */
export function longestTask(trace: Buffer): { clock: number; processor: number } {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}:${tid}`),
  )
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) =>
      /^(ThreadControllerImpl::)?RunTask$/.test(name) && mainThreads.has(`${pid}:${tid}`),
  )
  const longest = (member: 'dur' | 'tdur') => Math.max(...tasks.map((task) => task[member] ?? 0)) / 1000
  return { clock: longest('dur'), processor: longest('tdur') }
}
