/** Reads tasks on a page's main thread from a Chromium trace. */

interface TraceEvent {
  name: string
  pid: number
  tid: number
  /** Unit: microseconds. */
  dur?: number
  args?: { name?: string }
}

/** Duration by wall clock. Unit: milliseconds. */
export function longestTask(trace: Buffer): number {
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
  return tasks.reduce((longest, { dur = 0 }) => Math.max(longest, dur), 0) / 1000
}
