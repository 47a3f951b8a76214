/**
 * Simulates a crowd of browsers in a separate process. Each behaves like a browser with HTTP/1.1: six keep-alive connections
 * per origin, and retries for requests on connections that the server closed.
 */
import { Agent, get } from 'node:http'
import { getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Order {
  url: string
  from: string
  pictures: Picture[]
  people: number
  /** Groups arrive one after another. Each keeps its connections open. */
  groups: number
  /** Retries requests whose connection was closed before the first byte, like browsers do. */
  retries: boolean
}

export interface Seen {
  /** Number of people who saw an incomplete picture. */
  broken: number
  /** The results of the failed requests. */
  outcomes: string[]
}

/** Per origin. */
const CONNECTIONS = 6

/** Longer than anyone would wait for a picture. */
const TIMEOUT_MS = 120_000

/** Time between the arrivals of two groups. */
const LOOK_MS = 1500

// Lower the priority: the crowd shares the cores with the server, but its work should not slow the server down.
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
  /** The results of pictures that failed or were incomplete. */
  outcomes: string[]
  /** Closes the connections, which browsers keep open for a while. */
  leave(): void
}

export interface Picture {
  path: string
  bytes: number
}

/** Opens a page that shows all `pictures`. `retries`: like browsers do; without, each lost request is a broken picture. */
async function visit(
  { url, from }: { url: string; from: string },
  pictures: Picture[],
  { retries }: { retries: boolean },
): Promise<Visit> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const outcomes: string[] = []

  async function show({ path, bytes }: Picture): Promise<void> {
    let outcome = await fetchOnce(url + path, from, agent)
    // RFC 9112, 9.3.1. The closed connection has left the pool by now, so the next one is probably fresh.
    for (let tries = 0; outcome === 'closed before an answer' && retries && tries < 2; tries++)
      outcome = await fetchOnce(url + path, from, agent)
    if (outcome !== bytes) outcomes.push(`${outcome}`)
  }

  await Promise.all(pictures.map(show))
  return { outcomes, leave: () => agent.destroy() }
}

/** Number of bytes received, or the reason for a failure. */
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
    outgoing.setTimeout(TIMEOUT_MS, () => {
      resolve('no answer')
      outgoing.destroy()
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE'
      resolve(isClosed ? 'closed before an answer' : (error.code ?? error.message))
    })
  })
}
