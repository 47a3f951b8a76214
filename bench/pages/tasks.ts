/** Tasks on a page's main thread, read from a trace of Chromium. */

interface TraceEvent {
  name: string
  pid: number
  tid: number
  /** Unit: microseconds. */
  ts: number
  dur?: number
  tdur?: number
  args?: { name?: string; data?: { functionName?: string; url?: string; type?: string } }
}

export interface Task {
  /** Time of the processor. Unit: milliseconds. */
  processor: number
  /** By the clock, on whatever else the machine did meanwhile, too. Unit: milliseconds. */
  wall: number
  /** What it was made of, the longest first. */
  parts: string
}

/** Longest by the clock first. */
export function pageTasks(trace: Buffer): Task[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}:${tid}`),
  )
  const events = traceEvents.filter(
    ({ pid, tid, dur }) => dur !== undefined && mainThreads.has(`${pid}:${tid}`),
  )
  return events
    .filter(({ name }) => name === 'RunTask' || name === 'ThreadControllerImpl::RunTask')
    .sort((a, b) => b.dur! - a.dur!)
    .slice(0, 200)
    .map((task) => ({
      processor: (task.tdur ?? 0) / 1000,
      wall: task.dur! / 1000,
      parts: partsOf(task, events),
    }))
}

function partsOf(task: TraceEvent, events: TraceEvent[]): string {
  return events
    .filter(
      (event) =>
        event !== task &&
        event.pid === task.pid &&
        event.tid === task.tid &&
        event.ts >= task.ts &&
        event.ts + event.dur! <= task.ts + task.dur! &&
        event.dur! > 1000,
    )
    .sort((a, b) => b.dur! - a.dur!)
    .slice(0, 5)
    .map(({ name, dur, args }) => {
      const detail = args?.data?.functionName || args?.data?.type || ''
      return `${name}${detail ? ` ${detail}` : ''} ${(dur! / 1000).toFixed(0)}`
    })
    .join(', ')
}
