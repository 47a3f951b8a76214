/** GETs at a steady pace, and how long each took. */
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

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
      fetchOnce(url, agent).then(
        (endedAt) => endedAt - since,
        () => Number.POSITIVE_INFINITY,
      ),
    )
  }
  const took = await Promise.all(requests)
  agent.destroy()
  return took.sort((a, b) => a - b)
}

/** When its last byte was here. */
function fetchOnce(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`GET: ${response.statusCode}`))
      response
        .resume()
        .on('end', () => resolve(performance.now()))
        .on('error', reject)
    }).on('error', reject)
  })
}
