/** What a service is held to after the moderation drill. */
import { join } from 'node:path'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { request } from '../support/http.ts'
import type { Cache } from '../support/processes/caches.ts'
import type { RunningServer } from '../support/processes/server.ts'
import type { SlowOrigin } from '../support/processes/slow-origin.ts'
import type { Tally } from './drill.ts'

/** Uploads of a day. */
export const CAPS = { address: 2, network: 12, instance: 250 }

export interface Image {
  id: string
  address: string
  /** What was acknowledged last. `null`: an act was not answered, so that either may be. */
  state: 'visible' | 'held' | 'removed' | null
}

export interface Scene {
  server: RunningServer
  origin: SlowOrigin
  cache: Cache
  images: Image[]
  /** Acts that were answered with success, as the record has them. */
  acts: { act: string; subject: string }[]
  tally: Tally
}

export async function statusOf(url: string, id: string, more = ''): Promise<number> {
  return (await request(url, 'GET', `/raw/${id}${more}`)).status
}

/** What is held or removed answers through the cache as it does without, whatever the address. */
export async function checkCaches({ server, cache, images, tally }: Scene): Promise<void> {
  const expected = { visible: [200], held: [403], removed: [410] }
  for (const { id, state } of images) {
    const status = await statusOf(server.url, id)
    if (state !== null && !expected[state].includes(status)) {
      if (state === 'visible') tally.lost++
      else tally.risen++
      tally.faults.push(`${id} is ${state}, and answers ${status}`)
    }
    if (status === 200) continue
    for (const more of ['', '?dl=1', '.gif', '.gif?dl=1']) {
      if ((await statusOf(cache.url, id, more)) !== 200) continue
      tally.risen++
      tally.faults.push(`${id}${more} answers ${status}, and 200 through the cache`)
    }
  }
}

export async function checkActs({ server, acts, tally }: Scene): Promise<void> {
  const { stdout } = await server.operator(['audit', '--json', '--limit', '100000'])
  const recorded = new Set(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ act, subject }) => `${act} ${subject}`),
  )
  for (const { act, subject } of acts) {
    if (recorded.has(`${act} ${subject}`)) continue
    tally.lost++
    tally.faults.push(`${act} of ${subject} was acknowledged, and is not on record`)
  }
}

/** No image is in two places, and no more are there than the cap lets in. */
export async function checkPlaces({ server, images, tally }: Scene): Promise<void> {
  const objects = await openFilesystemStore({ folder: join(server.dataDir, 'images'), hotSetBytes: 0 })
  try {
    const visible = new Set<string>()
    const held = new Set<string>()
    for await (const id of objects.list()) visible.add(id)
    for await (const id of objects.listHeld()) held.add(id)
    for (const id of held) if (visible.has(id)) tally.faults.push(`${id} is in two places`)
    const gone = images.filter(({ state }) => state === 'removed').length
    if (visible.size + held.size + gone > CAPS.instance) {
      tally.faults.push(`${visible.size + held.size} images are there, the cap is ${CAPS.instance}`)
    }
  } finally {
    await objects.close()
  }
}
