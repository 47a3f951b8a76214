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
  /** What they got instead. */
  outcomes: string[]
}

/** To an origin. */
const CONNECTIONS = 6

/** Longer than anybody looks at an empty frame. */
const PATIENCE_MS = 120_000

/** How long a group looks at its gallery before the next one comes. */
const LOOK_MS = 1500

// It shares the processors with the server: that it works is no cost of the server's.
setPriority(Math.min(19, getPriority() + 10))
process.on('message', async ({ people, groups, pictures, retries, ...place }: Order) => {
  const visits: Visit[] = []
  for (let group = 0; group < groups; group++) {
    const each = Array.from({ length: people / groups }, () => visit(place, pictures, { retries }))
    visits.push(...(await Promise.all(each)))
    if (groups > 1) await sleep(LOOK_MS)
  }
  for (const { leave } of visits) leave()
  const seen: Seen = {
    broken: visits.filter(({ outcomes }) => outcomes.length > 0).length,
    outcomes: visits.flatMap(({ outcomes }) => outcomes),
  }
  process.send!(seen)
})

interface Visit {
  /** What came of pictures that did not come, or not whole. */
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
  const outcomes: string[] = []

  async function show({ path, bytes }: Picture): Promise<void> {
    let outcome = await fetchOnce(url + path, from, agent)
    // RFC 9112, 9.3.1. A connection of its own is closed by then: the next one is likely fresh.
    for (let tries = 0; outcome === 'closed before an answer' && retries && tries < 2; tries++)
      outcome = await fetchOnce(url + path, from, agent)
    if (outcome !== bytes) outcomes.push(`${outcome}`)
  }

  await Promise.all(pictures.map(show))
  return { outcomes, leave: () => agent.destroy() }
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
