import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ImageRecord, ObjectStore } from '../../../src/stores/object-store.ts'
import { IdTaken } from '../../../src/stores/object-store.ts'
import { assertSameBytes, bodyOf, bytesFor, listOf, put } from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

/** Few, so that random steps collide. Two differ only in case. */
const IDS = ['aBcdefghijk', 'AbCdefghijk', '00000000000', 'zzzzzzzzzzz']

type Step =
  | { step: 'put'; id: string; seed: number; size: number }
  | { step: 'open' | 'head' | 'remove'; id: string }
  | { step: 'list'; after: string | undefined }

type Model = Map<string, { record: ImageRecord; bytes: Uint8Array }>

const id = fc.constantFrom(...IDS)
const size = fc.oneof(
  { weight: 8, arbitrary: fc.nat(3000) },
  { weight: 1, arbitrary: fc.integer({ min: 200_000, max: 600_000 }) },
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ step: fc.constant('put' as const), id, seed: fc.nat(), size }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('open' as const), id }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('head' as const), id }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('remove' as const), id }) },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('list' as const), after: fc.option(id, { nil: undefined }) }),
  },
)

export function modelCases({ open }: Harness, runs: number): void {
  test('behaves like a map for random sequences of operations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
        const opened = await open()
        try {
          const model: Model = new Map()
          for (const each of steps) await runStep(each, opened.store, model)
          assert.deepEqual(await listOf(opened.store), [...model.keys()].sort())
          for (const [stored, { record, bytes }] of model) {
            const image = await opened.store.open(stored)
            assert.deepEqual(image?.record, record)
            assertSameBytes(await bodyOf(image!), bytes)
          }
          if (opened.leftovers) assert.deepEqual(await opened.leftovers(), [])
        } finally {
          await opened.close()
        }
      }),
      { numRuns: runs },
    )
  })
}

async function runStep(each: Step, store: ObjectStore, model: Model): Promise<void> {
  if (each.step === 'list') {
    const expected = [...model.keys()].sort().filter((key) => each.after === undefined || key > each.after)
    assert.deepEqual(await listOf(store, each.after), expected)
    return
  }
  const known = model.get(each.id)
  switch (each.step) {
    case 'put': {
      const bytes = bytesFor(each.seed, each.size)
      if (known) {
        await assert.rejects(put(store, each.id, bytes), IdTaken)
      } else {
        model.set(each.id, { bytes, record: await put(store, each.id, bytes) })
      }
      return
    }
    case 'head':
      assert.deepEqual(await store.head(each.id), known?.record ?? null)
      return
    case 'remove':
      assert.equal(await store.remove(each.id), known !== undefined)
      model.delete(each.id)
      return
    case 'open': {
      const image = await store.open(each.id)
      assert.deepEqual(image?.record, known?.record)
      if (image && known) assertSameBytes(await bodyOf(image), known.bytes)
      return
    }
  }
}
