/**
 * A crowd of browsers, in a process of its own: told what to open, and says what it saw. Each does what a browser does with
 * HTTP/1.1: six connections to an origin, kept alive, and one more try where a kept one was closed.
 */
import { Agent, get } from 'node:http'
import { getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** To an origin. */
const CONNECTIONS = 6

/** Longer than anybody looks at an empty frame. */
const PATIENCE_MS = 120_000

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

interface Visit {
  /** Pictures that did not come, or not whole. */
  broken: number
  /** Requests that had to be sent again, because their connection was closed before the first byte (RFC 9112, 9.3.1). */
  retried: number
  /** Until the last picture. Unit: milliseconds. */
  tookMs: number
  outcomes: string[]
  /** Closes the connections, which a browser keeps for a while. */
  leave(): void
}

export interface Picture {
  path: string
  bytes: number
}

/** Opens a page that shows all `pictures` at once. `retries`: as browsers do; without, each lost request is a broken picture. */
async function visit(
  { url, from }: { url: string; from: string },
  pictures: Picture[],
  { retries }: { retries: boolean },
): Promise<Visit> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const seen: Visit = { broken: 0, retried: 0, tookMs: 0, outcomes: [], leave: () => agent.destroy() }
  const since = performance.now()

  async function show({ path, bytes }: Picture): Promise<void> {
    let outcome = await fetchOnce(url + path, from, agent)
    // A connection of its own is closed by then: the next one is likely fresh.
    for (let tries = 0; outcome === 'closed before an answer' && retries && tries < 2; tries++) {
      seen.retried++
      outcome = await fetchOnce(url + path, from, agent)
    }
    if (outcome !== bytes) {
      seen.broken++
      seen.outcomes.push(`${outcome}`)
    }
  }

  await Promise.all(pictures.map(show))
  seen.tookMs = performance.now() - since
  return seen
}

/** The bytes that came, or why they did not. */
function fetchOnce(url: string, from: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const outgoing = get(url, { agent, localAddress: from }, (response) => {
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      response.on('error', () => resolve('cut off'))
      response.on('end', () => resolve(response.statusCode === 200 ? bytes : `${response.statusCode}`))
    })
    outgoing.setTimeout(PATIENCE_MS, () => {
      resolve('no answer')
      outgoing.destroy()
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE'
      resolve(isClosed ? 'closed before an answer' : (error.code ?? error.message))
    })
  })
}
