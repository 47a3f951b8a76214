/** Sums counters over all processes of a machine: each worker asks its supervisor, which asks all workers. */
import cluster, { type Worker } from 'node:cluster'
import { createInFlight } from '../../async.ts'
import { type Counting, type Counts, sumOf } from './counts.ts'

/** A worker that is silent for this long is busy or dying, so its last known counts are used. */
const ANSWER_MS = 1000

type Message =
  | { metrics: 'sum?' }
  | { metrics: 'sum'; counts: Counts }
  | { metrics: 'counts?' }
  | { metrics: 'counts'; counts: Counts }

/** For the supervisor. Counts of dead workers stay in the sum, because a counter must never decrease. */
export function sumOverWorkers(): void {
  const last = new Map<number, Counts>()
  let missing = new Set<number>()
  let onComplete = (): void => {}

  async function collect(): Promise<Counts> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    missing = new Set(workers.map(({ id }) => id))
    for (const worker of workers) send(worker, { metrics: 'counts?' })
    await new Promise<void>((resolve) => {
      onComplete = resolve
      setTimeout(resolve, ANSWER_MS).unref()
    })
    return sumOf([...last.values()])
  }

  const collecting = createInFlight()
  cluster.on('message', (worker, message: Message) => {
    if (message?.metrics === 'counts') {
      last.set(worker.id, message.counts)
      missing.delete(worker.id)
      if (missing.size === 0) onComplete()
    } else if (message?.metrics === 'sum?') {
      void collecting.share('sum', collect).then((counts) => send(worker, { metrics: 'sum', counts }))
    }
  })
}

function send(worker: Worker, message: Message): void {
  if (worker.isConnected()) worker.send(message)
}

/**
 * For a serving process: the sum over all serving processes. Rejects if the supervisor does not answer: any other numbers could be
 * lower than those of the previous scrape, which another worker may have answered.
 */
export function machineCounts({ counts }: Counting): () => Promise<Counts> {
  if (!cluster.isWorker) return async () => counts
  const asking = createInFlight()
  let onSum = (_: Counts): void => {}
  process.on('message', (message: Message) => {
    if (message?.metrics === 'counts?') process.send?.({ metrics: 'counts', counts })
    else if (message?.metrics === 'sum') onSum(message.counts)
  })
  const ask = () =>
    new Promise<Counts>((resolve, reject) => {
      onSum = resolve
      process.send?.({ metrics: 'sum?' })
      setTimeout(() => reject(new Error('the supervisor did not answer')), ANSWER_MS * 2)
    })
  return () => asking.share('sum', ask)
}
