/** One GET after another at a steady pace, and how long each took. */
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const EVERY_MS = 20

/**
 * Until `signal`. Unit: milliseconds, ascending. Each is counted from when it was due, so that an answer that is late
 * counts against those that had to wait for it too.
 */
export async function probe(url: string, signal: AbortSignal): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const took: number[] = []
  for (let due = performance.now(); !signal.aborted; due += EVERY_MS) {
    const wait = due - performance.now()
    if (wait > 0) await sleep(wait)
    await fetchOnce(url, agent)
    took.push(performance.now() - due)
  }
  agent.destroy()
  return took.sort((a, b) => a - b)
}

function fetchOnce(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`GET: ${response.statusCode}`))
      response.resume().on('end', resolve).on('error', reject)
    }).on('error', reject)
  })
}
