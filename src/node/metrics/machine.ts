/** Counts of all processes of a machine: each worker asks its supervisor, which asks them all. */
import cluster, { type Worker } from 'node:cluster'
import { createInFlight } from '../../async.ts'
import { type Counting, type Counts, sumOf } from './counts.ts'

/** A worker that is silent for this long is busy or dying: its last counts are taken. */
const ANSWER_MS = 1000

type Message =
  | { metrics: 'sum?'; ticket: number }
  | { metrics: 'sum'; ticket: number; counts: Counts }
  | { metrics: 'counts?' }
  | { metrics: 'counts'; counts: Counts }

/** In the supervisor. Counts of dead workers stay in the sum: a counter never falls. */
export function sumOverWorkers(): void {
  const last = new Map<number, Counts>()
  let missing = new Set<number>()
  let haveAll = (): void => {}

  async function collect(): Promise<Counts> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    missing = new Set(workers.map(({ id }) => id))
    for (const worker of workers) tell(worker, { metrics: 'counts?' })
    await new Promise<void>((resolve) => {
      haveAll = resolve
      setTimeout(resolve, ANSWER_MS).unref()
    })
    return sumOf([...last.values()])
  }

  const collecting = createInFlight()
  cluster.on('message', (worker, message: Message) => {
    if (message?.metrics === 'counts') {
      last.set(worker.id, message.counts)
      missing.delete(worker.id)
      if (missing.size === 0) haveAll()
    } else if (message?.metrics === 'sum?') {
      void collecting
        .share('sum', collect)
        .then((counts) => tell(worker, { metrics: 'sum', ticket: message.ticket, counts }))
    }
  })
}

function tell(worker: Worker, message: Message): void {
  if (worker.isConnected()) worker.send(message)
}

/** In a process that serves: the sum over all that do. Never rejects. */
export function machineCounts({ counts }: Counting): () => Promise<Counts> {
  if (!cluster.isWorker) return async () => counts
  const asked = new Map<number, (sum: Counts) => void>()
  let tickets = 0
  process.on('message', (message: Message) => {
    if (message?.metrics === 'counts?') process.send?.({ metrics: 'counts', counts })
    else if (message?.metrics === 'sum') {
      asked.get(message.ticket)?.(message.counts)
      asked.delete(message.ticket)
    }
  })
  return () =>
    new Promise((resolve) => {
      const ticket = tickets++
      asked.set(ticket, resolve)
      process.send?.({ metrics: 'sum?', ticket })
      setTimeout(() => {
        if (asked.delete(ticket)) resolve(counts)
      }, ANSWER_MS * 2)
    })
}
