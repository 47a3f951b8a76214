/** Timed GETs: one after another, or at a constant rate. */
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Time since the request. Unit: milliseconds. */
export interface GetTimes {
  firstByte: number
  whole: number
}

/** Uses a warm connection. Throws for any status but 200. */
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
 * Sends GETs at a constant rate until `signal`. Resolves to their latencies, ascending. Unit: milliseconds. Open-loop: requests
 * do not wait for each other, and latency counts from the scheduled time, so one long stall shows up as many slow responses.
 */
export async function probe(url: string, signal: AbortSignal, everyMs = EVERY_MS): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const requests: Promise<number>[] = []
  for (let due = performance.now(); !signal.aborted; due += everyMs) {
    const wait = due - performance.now()
    if (wait > 0) await sleep(wait)
    const since = due
    // A failed request counts as infinitely slow: a stalled server accepts no more connections.
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
