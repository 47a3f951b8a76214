import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { wholeOf } from '../../../src/formats/image.ts'
import { idFor, recordOf } from '../../support/stored-images.ts'
import type { ContractOptions, Harness } from './harness.ts'

const MB = 1024 * 1024
const BODY_MB = 64
/** Far above what a draft needs, far below what it receives. */
const MAX_HELD_MB = 24

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

export function memoryCases({ on }: Harness, { draftsInMemory = false }: ContractOptions): void {
  if (draftsInMemory) {
    test('holds little of a draft in memory', {
      skip: 'does not apply: drafts are in memory, within a budget of the host',
    })
    return
  }
  on(`holds little of a ${BODY_MB} MB draft in memory, at any time`, async (store) => {
    const collect = collector()
    const held = () => {
      collect()
      // What the first found is counted as free when the second begins.
      collect()
      return process.memoryUsage().arrayBuffers / MB
    }
    // What earlier cases left goes in two rounds.
    held()
    await new Promise((resolve) => setImmediate(resolve))
    const before = held()
    let most = 0
    async function* body() {
      for (let sent = 0; sent < BODY_MB * 16; sent++) {
        yield new Uint8Array(MB / 16)
        if (sent % 128 === 0) most = Math.max(most, held() - before)
      }
    }
    const draft = await store.draft(body(), BODY_MB * MB)
    most = Math.max(most, held() - before)
    const sha256 = await draft.digest(wholeOf(draft))
    most = Math.max(most, held() - before)
    await draft.commit(
      { ...recordOf(idFor('a'), new Uint8Array()), sha256, size: draft.size },
      wholeOf(draft),
    )
    most = Math.max(most, held() - before)
    assert.ok(most < MAX_HELD_MB, `held ${most.toFixed(1)} MB`)
    const record = await store.head(idFor('a'))
    assert.equal(record?.size, BODY_MB * MB)
  })
}
