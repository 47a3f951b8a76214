/** The R2 adapter with a unique prefix, and hooks that bypass the adapter. */
import { ID_PATTERN } from '../../../src/protocol.ts'
import { MARKER_NAME } from '../../../src/stores/bucket/markers.ts'
import type { R2Bucket, R2Object, R2ObjectBody } from '../../../src/stores/r2/binding.ts'
import { openR2Store, type R2StoreOptions } from '../../../src/stores/r2/store.ts'
import type { OpenedStore } from '../../contracts/object-store.ts'
import { passGate } from '../gate.ts'

const HOUR_MS = 3_600_000

let serial = 0

export function openR2UnderTest(bucket: R2Bucket): OpenedStore {
  const prefix = `run ${++serial}/ä/`
  // Small pages, so that a few objects fill several.
  const open = (more: Partial<R2StoreOptions> = {}) =>
    openR2Store({ bucket, prefix, pageKeys: 10, pauseMs: 1, ...more })

  async function all(): Promise<R2Object[]> {
    const found: R2Object[] = []
    for (const folder of [prefix, `${prefix}held/`, `${prefix}checks/`]) {
      let cursor: string | undefined
      do {
        const page = await bucket.list({
          prefix: folder,
          limit: 1000,
          delimiter: '/',
          include: ['customMetadata'],
          ...(cursor !== undefined && { cursor }),
        })
        found.push(...page.objects)
        cursor = page.truncated ? page.cursor : undefined
      } while (cursor !== undefined)
    }
    return found
  }

  return {
    store: open(),
    reopen: async () => open(),
    reopenLater: async () => open({ bucket: anHourLater(bucket), now: () => Date.now() + HOUR_MS }),
    gated: async () => open({ bucket: gatedBucket(bucket) }),
    async corrupt(id, damage) {
      const object = (await bucket.get(prefix + id)) as R2ObjectBody
      const bytes = new Uint8Array(await object.arrayBuffer())
      if (damage === 'flip') bytes[Math.floor(bytes.length / 2)]! ^= 1
      const broken: Record<string, string> = damage === 'record' ? { record: '{' } : {}
      await bucket.put(prefix + id, damage === 'cut' ? bytes.slice(0, -100) : bytes, {
        customMetadata: { ...object.customMetadata, ...broken },
      })
    },
    async leftovers() {
      const others = (await all()).filter(({ key, customMetadata }) => {
        const marker = customMetadata?.[MARKER_NAME]
        return (
          !ID_PATTERN.test(key.slice(prefix.length)) ||
          (marker !== undefined && !marker.startsWith('retired '))
        )
      })
      return others.map(({ key }) => key)
    },
    async close() {
      for (const { key } of await all()) await bucket.delete(key)
    },
  }
}

function gatedBucket(bucket: R2Bucket): R2Bucket {
  const gatedMethod =
    (name: keyof R2Bucket) =>
    async (...args: never[]) => {
      await passGate()
      return (bucket[name] as (...args: never[]) => unknown)(...args)
    }
  return new Proxy(bucket, { get: (_, name) => gatedMethod(name as keyof R2Bucket) })
}

/** A bucket whose clock, as seen by puts, is an hour ahead. The times of existing objects are unchanged. */
function anHourLater(bucket: R2Bucket): R2Bucket {
  const put: R2Bucket['put'] = async (...args) => {
    const stored = await bucket.put(...args)
    if (stored === null) return null
    const { key, size, etag, uploaded } = stored
    return { key, size, etag, uploaded: new Date(uploaded.getTime() + HOUR_MS) }
  }
  return new Proxy(bucket, { get: (target, name) => (name === 'put' ? put : target[name as keyof R2Bucket]) })
}
