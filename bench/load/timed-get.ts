/** One GET after the other on a warm connection, timed. */
import { type Agent, get } from 'node:http'

/** From the request on. Unit: milliseconds. */
export interface GetTimes {
  firstByte: number
  whole: number
}

/** Throws for any answer but 200. */
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
