/** A crowd of browsers, in a process of its own: told what to open, and says what it saw. */
import { getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Picture, type Visit, visit } from './browser.ts'

export interface Order {
  url: string
  from: string
  pictures: Picture[]
  people: number
  /** They come one after the other, and each keeps its connections. */
  groups: number
  /** Requests whose connection was closed before the first byte, as browsers do. */
  retries: boolean
}

export interface Seen {
  /** People who saw a picture that was not whole. */
  broken: number
  retried: number
  slowestMs: number
  outcomes: string[]
}

/** How long a group looks at its gallery before the next one comes. */
const LOOK_MS = 1500

// It shares the processors with the server: that it works is no cost of the server's.
setPriority(getPriority() + 10)
process.on('message', async ({ people, groups, pictures, retries, ...place }: Order) => {
  const visits: Visit[] = []
  for (let group = 0; group < groups; group++) {
    const each = Array.from({ length: people / groups }, () => visit(place, pictures, { retries }))
    visits.push(...(await Promise.all(each)))
    if (groups > 1) await sleep(LOOK_MS)
  }
  for (const { leave } of visits) leave()
  const seen: Seen = {
    broken: visits.filter(({ broken }) => broken > 0).length,
    retried: visits.reduce((sum, { retried }) => sum + retried, 0),
    slowestMs: Math.max(...visits.map(({ tookMs }) => tookMs)),
    outcomes: visits.flatMap(({ outcomes }) => outcomes),
  }
  process.send!(seen)
})
