/** Checks after the moderation drill. */
import { join } from 'node:path'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { request } from '../support/http.ts'
import type { Cache } from '../support/processes/caches.ts'
import { jsonLines } from '../support/processes/process.ts'
import type { RunningServer } from '../support/processes/server.ts'
import type { SlowOrigin } from '../support/processes/slow-origin.ts'
import type { Tally } from './drill.ts'

/** Daily upload limits. */
export const LIMITS = { address: 2, network: 12, instance: 250 }

export interface Image {
  id: string
  address: string
  /** The last acknowledged state. `null` if an action was not answered, so that the state is unknown. */
  state: 'visible' | 'held' | 'removed' | null
}

export interface Scene {
  server: RunningServer
  origin: SlowOrigin
  cache: Cache
  images: Image[]
  /** Successful actions, in the terms of the audit log. */
  actions: { act: string; subject: string }[]
  tally: Tally
}

export async function statusOf(url: string, id: string, suffix = ''): Promise<number> {
  return (await request(url, 'GET', `/raw/${id}${suffix}`)).status
}

/** A held or removed image must not be served by the cache, under any of its URLs. */
export async function checkCaches({ server, cache, images, tally }: Scene): Promise<void> {
  const expected = { visible: [200], held: [403], removed: [410] }
  for (const { id, state } of images) {
    const status = await statusOf(server.url, id)
    if (state !== null && !expected[state].includes(status)) {
      if (state === 'visible') tally.lost++
      else tally.risen++
      tally.faults.push(`${id} is ${state}, but returned ${status}`)
    }
    if (status === 200) continue
    for (const suffix of ['', '?dl=1', '.gif', '.gif?dl=1']) {
      if ((await statusOf(cache.url, id, suffix)) !== 200) continue
      tally.risen++
      tally.faults.push(`${id}${suffix} returned ${status}, but 200 through the cache`)
    }
  }
}

export async function checkAuditLog({ server, actions, tally }: Scene): Promise<void> {
  const { stdout } = await server.operator(['audit', '--json', '--limit', '100000'])
  const recorded = new Set(jsonLines(stdout).map(({ act, subject }) => `${act} ${subject}`))
  for (const { act, subject } of actions) {
    if (recorded.has(`${act} ${subject}`)) continue
    tally.lost++
    tally.faults.push(`${act} of ${subject} was acknowledged, but is not in the audit log`)
  }
}

/** No image may be both visible and held, and the number of images must not exceed the daily limit. */
export async function checkStoredImages({ server, images, tally }: Scene): Promise<void> {
  const objects = await openFilesystemStore({ folder: join(server.dataDir, 'images'), hotSetBytes: 0 })
  try {
    const visible = new Set<string>()
    const held = new Set<string>()
    for await (const id of objects.list()) visible.add(id)
    for await (const id of objects.listHeld()) held.add(id)
    for (const id of held) if (visible.has(id)) tally.faults.push(`${id} is both visible and held`)
    const removed = images.filter(({ state }) => state === 'removed').length
    if (visible.size + held.size + removed > LIMITS.instance) {
      tally.faults.push(`${visible.size + held.size} images are stored, the limit is ${LIMITS.instance}`)
    }
  } finally {
    await objects.close()
  }
}
