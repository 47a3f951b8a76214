/** GETs that are timed: one after the other, or at a steady pace. */
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** From the request on. Unit: milliseconds. */
export interface GetTimes {
  firstByte: number
  whole: number
}

/** On a warm connection. Throws for any answer but 200. */
export function timedGet(url: string, agent: Agent, headers: Record<string, string> = {}): Promise<GetTimes> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode} for ${url}`))
      let firstByte = 0
      response.once('data', () => {
        firstByte = performance.now() - startedAt
      })
      response.on('data', () => {})
      response.on('end', () => resolve({ firstByte, whole: performance.now() - startedAt }))
      response.on('error', reject)
    }).on('error', reject)
  })
}

const EVERY_MS = 20

/**
 * Until `signal`. Unit: milliseconds, ascending. None waits for the one before it, and each is counted from when it
 * was due: a server that stands still for long makes many slow answers, not one.
 */
export async function probe(url: string, signal: AbortSignal, everyMs = EVERY_MS): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const requests: Promise<number>[] = []
  for (let due = performance.now(); !signal.aborted; due += everyMs) {
    const wait = due - performance.now()
    if (wait > 0) await sleep(wait)
    const since = due
    // One that fails took for ever: a server that stands still lets no more connections in.
    requests.push(
      timedGet(url, agent).then(
        () => performance.now() - since,
        () => Number.POSITIVE_INFINITY,
      ),
    )
  }
  const took = await Promise.all(requests)
  agent.destroy()
  return took.sort((a, b) => a - b)
}
