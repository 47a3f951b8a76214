/** Previews: stored in the same object as their image, written and removed together. */
import assert from 'node:assert/strict'
import { previewFrame } from '../../../src/formats/preview-frame.ts'
import {
  type Draft,
  dispose,
  type ImageRecord,
  type ObjectStore,
  previewRange,
  storedSize,
  UnsatisfiableRange,
} from '../../../src/stores/object-store.ts'
import { sha256Of } from '../../support/sha256.ts'
import {
  assertAbsent,
  assertHeld,
  assertHolds,
  assertSameBytes,
  bodyOf,
  bytesFor,
  idFor,
  inChunks,
  listOf,
  put,
  read,
  recordOf,
} from '../../support/stored-images.ts'
import { type Harness, storeCrashesAt } from './harness.ts'

/** Around the sizes that stores handle in one piece, with the image, the preview or a block ending there. */
const SIZES: [image: number, preview: number][] = [
  [1000, 300],
  [2000, 100_000],
  [65_536, 65_508],
  [180_000, 80_000],
  [262_144, 100],
  [700_000, 122_880],
  [1_500_000, 1],
]

interface Sample {
  record: ImageRecord
  image: Uint8Array
  preview: Uint8Array
  /** As sent and stored. */
  file: Uint8Array
}

function sampleOf(imageBytes: number, previewBytes: number, id = idFor('a')): Sample {
  const image = bytesFor(imageBytes, imageBytes)
  const preview = bytesFor(7, previewBytes)
  const { head, foot } = previewFrame(previewBytes)
  const file = Buffer.concat([image, head, preview, foot])
  const facts = { type: 'image/webp', width: 320, height: 240 } as const
  const record = recordOf(id, image, {
    sentSha256: sha256Of(file),
    preview: { ...facts, size: previewBytes, sha256: sha256Of(preview) },
  })
  return { record, image, preview, file }
}

async function drafted(store: ObjectStore, file: Uint8Array): Promise<Draft> {
  return store.draft(inChunks(file), file.length)
}

async function putWith(store: ObjectStore, { record, file }: Sample): Promise<void> {
  const draft = await drafted(store, file)
  await draft.commit(record, [{ offset: 0, length: draft.size }])
}

async function assertPreview(store: ObjectStore, { record, preview, file }: Sample): Promise<void> {
  for (const selection of ['preview', () => 'preview' as const] as const) {
    const opened = await store.open(record.id, selection)
    assert.ok(opened)
    assert.equal(opened.range, undefined)
    assert.deepEqual(opened.record, record)
    assertSameBytes(await bodyOf(opened), preview, 'preview')
  }
  assertSameBytes(await read(store, record.id, 'stored'), file, 'all that is stored')
}

export function previewCases({ on, onHooks }: Harness): void {
  for (const [imageBytes, previewBytes] of SIZES) {
    const sizes = `an image of ${imageBytes} bytes with a preview of ${previewBytes}`
    on(`stores ${sizes}, each readable separately`, async (store) => {
      const sample = sampleOf(imageBytes, previewBytes)
      const { record, image } = sample
      assert.equal(storedSize(record), sample.file.length)
      await putWith(store, sample)
      for (let reads = 0; reads < 2; reads++) {
        await assertHolds(store, record, image)
        await assertPreview(store, sample)
      }
      assert.deepEqual(await store.verify(record.id), record)
      assert.deepEqual(await listOf(store), [record.id])
    })

    on(`resolves ranges against the image alone in ${sizes}`, async (store) => {
      const sample = sampleOf(imageBytes, previewBytes)
      const { record, image } = sample
      await putWith(store, sample)
      const end = imageBytes - 1
      for (const [range, first, last] of [
        [{ first: end }, end, end],
        [{ first: 10 }, 10, end],
        [{ first: 10, last: imageBytes + 20 }, 10, end],
        [{ first: 0, last: Number.MAX_SAFE_INTEGER }, 0, end],
        [{ suffix: 5 }, imageBytes - 5, end],
        [{ suffix: imageBytes + 5 }, 0, end],
      ] as const) {
        const opened = await store.open(record.id, range)
        assert.ok(opened)
        assert.deepEqual(opened.range, { first, last }, JSON.stringify(range))
        assertSameBytes(await bodyOf(opened), image.subarray(first, last + 1), JSON.stringify(range))
      }
      for (const range of [
        { first: imageBytes },
        { first: imageBytes + 10 },
        { first: 1e9 },
        { suffix: 0 },
      ]) {
        await assert.rejects(
          store.open(record.id, range),
          (error) => error instanceof UnsatisfiableRange && error.size === imageBytes,
          JSON.stringify(range),
        )
      }
    })

    on(`stores ${sizes} assembled from segments`, async (store) => {
      const sample = sampleOf(imageBytes, previewBytes)
      const sent = Buffer.concat([bytesFor(3, 500), sample.file, bytesFor(4, 50)])
      const draft = await drafted(store, sent)
      const { head, foot } = previewFrame(previewBytes)
      const range = previewRange(sample.record)!
      await draft.commit(sample.record, [
        { offset: 500, length: imageBytes },
        head,
        { offset: 500 + range.first, length: previewBytes },
        foot,
      ])
      await assertHolds(store, sample.record, sample.image)
      await assertPreview(store, sample)
      assert.deepEqual(await store.verify(sample.record.id), sample.record)
    })

    onHooks(['corrupt', 'reopen'], `never returns damaged bytes of ${sizes}`, async (store, opened) => {
      const sample = sampleOf(imageBytes, previewBytes)
      for (const damage of ['flip', 'cut'] as const) {
        const record = { ...sample.record, id: idFor(damage) }
        await putWith(store, { ...sample, record })
        await opened.corrupt(record.id, damage)
        const cold = await opened.reopen()
        await assert.rejects(cold.verify(record.id), `${damage} is not verified`)
        // The damage is in either the image or the preview.
        const reads = [read(cold, record.id), read(cold, record.id, 'preview')]
        const [image, preview] = await Promise.allSettled(reads)
        if (image?.status === 'fulfilled') assertSameBytes(image.value, sample.image)
        if (preview?.status === 'fulfilled') assertSameBytes(preview.value, sample.preview)
        assert.ok(image?.status === 'rejected' || preview?.status === 'rejected')
        const draft = await drafted(cold, sample.file)
        assert.equal(await draft.replace(record, [{ offset: 0, length: draft.size }]), 'visible')
        await assertHolds(cold, record, sample.image)
        await assertPreview(cold, { ...sample, record })
      }
    })

    on(`computes digests of parts of a draft of ${sizes}`, async (store) => {
      const { image, preview, file, record } = sampleOf(imageBytes, previewBytes)
      const draft = await drafted(store, file)
      const { first } = previewRange(record)!
      assert.equal(await draft.digest([{ offset: 0, length: imageBytes }]), sha256Of(image))
      assert.equal(await draft.digest([{ offset: first, length: previewBytes }]), sha256Of(preview))
      assert.equal(await draft.digest([{ offset: 0, length: file.length }]), sha256Of(file))
      assert.equal(await draft.digest([{ offset: 0, length: 1 }, image.subarray(1)]), sha256Of(image))
      await draft.discard()
    })
  }

  on('returns no bytes for the preview of an image without one', async (store) => {
    const image = bytesFor(1, 5000)
    const record = await put(store, idFor('plain'), image)
    const opened = await store.open(record.id, 'preview')
    assert.ok(opened)
    assert.deepEqual(opened.record, record)
    assert.equal((await bodyOf(opened)).length, 0)
    assertSameBytes(await read(store, record.id, 'stored'), image)
    assert.equal(await store.open(idFor('nobody'), 'preview'), null)
    assert.equal(await store.open(idFor('nobody'), 'stored'), null)
  })

  on('holds, releases and removes a preview together with its image', async (store) => {
    for (const [imageBytes, previewBytes] of SIZES) {
      const sample = sampleOf(imageBytes, previewBytes, idFor(imageBytes))
      const { id } = sample.record
      await putWith(store, sample)
      await dispose((await store.open(id))!)
      assert.equal(await store.hold(id), true)
      assert.equal(await store.open(id, 'preview'), null)
      await assertHeld(store, sample.record, sample.image)
      const held = await store.openHeld(id, 'preview')
      assert.ok(held)
      assertSameBytes(await bodyOf(held), sample.preview)
      assert.equal(await store.release(id), true)
      await assertHolds(store, sample.record, sample.image)
      await assertPreview(store, sample)
      assert.deepEqual(await store.verify(id), sample.record)
      assert.equal(await store.remove(id), true)
      await assertAbsent(store, id)
      assert.equal(await store.open(id, 'preview'), null)
    }
  })

  onHooks(
    ['gated', 'reopenLater'],
    'stores image and preview completely or not at all if the process crashes',
    async (_, opened) => {
      const sample = sampleOf(200_000, 40_000)
      const large = sampleOf(400_000, 90_000, idFor('large'))
      for (const each of [sample, large]) {
        let crashed = true
        for (let step = 0; crashed; step++) {
          const record = { ...each.record, id: idFor(`${each.image.length}${step}`) }
          crashed = await storeCrashesAt(opened, step, (crashing) => putWith(crashing, { ...each, record }))
          const later = await opened.reopenLater()
          if ((await later.head(record.id)) !== null) {
            await assertHolds(later, record, each.image)
            await assertPreview(later, { ...each, record })
            assert.deepEqual(await later.verify(record.id), record)
          } else assert.ok(crashed, 'an acknowledged image must exist')
        }
      }
    },
  )
}
