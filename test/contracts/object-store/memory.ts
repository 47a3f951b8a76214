import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { wholeFile } from '../../../src/formats/image.ts'
import { idFor, recordOf } from '../../support/stored-images.ts'
import type { ContractOptions, Harness } from './harness.ts'

const MB = 1024 * 1024
const BODY_MB = 64
/** Far more than a draft needs, far less than it receives. */
const MAX_USED_MB = 24

/** Returns a function that collects garbage. */
export function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

export function memoryCases({ on }: Harness, { draftsInMemory = false }: ContractOptions): void {
  if (draftsInMemory) {
    test('receives a large draft in constant memory', {
      skip: 'does not apply: drafts are in memory, within a budget of the host',
    })
    return
  }
  on(`receives a draft of ${BODY_MB} MB in constant memory`, async (store) => {
    const collect = collector()
    const measureMb = () => {
      collect()
      // Memory that the first collection frees is only accounted for when the second one starts.
      collect()
      return process.memoryUsage().arrayBuffers / MB
    }
    // Garbage of earlier cases takes two passes to be collected.
    measureMb()
    await new Promise((resolve) => setImmediate(resolve))
    const before = measureMb()
    let peak = 0
    async function* body() {
      for (let sent = 0; sent < BODY_MB * 16; sent++) {
        yield new Uint8Array(MB / 16)
        if (sent % 128 === 0) peak = Math.max(peak, measureMb() - before)
      }
    }
    const draft = await store.draft(body(), BODY_MB * MB)
    peak = Math.max(peak, measureMb() - before)
    const sha256 = await draft.digest(wholeFile(draft))
    peak = Math.max(peak, measureMb() - before)
    await draft.commit(
      { ...recordOf(idFor('a'), new Uint8Array()), sha256, size: draft.size },
      wholeFile(draft),
    )
    peak = Math.max(peak, measureMb() - before)
    assert.ok(peak < MAX_USED_MB, `used ${peak.toFixed(1)} MB`)
    const record = await store.head(idFor('a'))
    assert.equal(record?.size, BODY_MB * MB)
  })
}
