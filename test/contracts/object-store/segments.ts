import assert from 'node:assert/strict'
import fc from 'fast-check'
import { lengthOf, type Segment } from '../../../src/formats/image.ts'
import { extent } from '../../support/extent.ts'
import { sha256Of } from '../../support/sha256.ts'
import { assertHolds, bytesFor, idFor, inChunks, recordOf } from '../../support/stored-images.ts'
import type { Harness } from './harness.ts'

/** Commits that store only parts of the upload. */
export function segmentCases({ on }: Harness): void {
  for (const size of [1000, 64 * 1024, 256 * 1024, 1_500_000]) {
    on(`stores the segments of ${size} bytes, in order`, async (store) => {
      const bytes = bytesFor(4, size)
      const third = Math.floor(size / 3)
      const segments: Segment[] = [
        new Uint8Array([0xff, 0xd8]),
        { offset: third, length: third },
        new Uint8Array(),
        { offset: 0, length: 0 },
        bytesFor(5, 77),
        { offset: 2 * third, length: size - 2 * third },
        { offset: 5, length: 1 },
        new Uint8Array([0xff, 0xd9]),
      ]
      const kept = Buffer.concat(
        segments.map((segment) =>
          segment instanceof Uint8Array
            ? segment
            : bytes.subarray(segment.offset, segment.offset + segment.length),
        ),
      )
      const draft = await store.draft(inChunks(bytes), size)
      assert.equal(await draft.digest(segments), sha256Of(kept))
      const record = recordOf(idFor('a'), kept, { sentSha256: sha256Of(bytes) })
      assert.equal(record.size, lengthOf(segments))
      await draft.commit(record, segments)
      await assertHolds(store, record, kept)
    })
  }

  on('stores arbitrary segments, in any order, from the draft or literal', async (store) => {
    const sent = bytesFor(11, 5000)
    const offset = fc.nat({ max: sent.length })
    const part = fc.record({
      kind: fc.constantFrom('run' as const, 'literal' as const, 'read' as const),
      at: offset,
      length: fc.nat({ max: 1500 }),
    })
    let serial = 0
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.boolean(), async (parts, inOrder) => {
        const draft = await store.draft(inChunks(sent, 999), sent.length)
        const ordered = inOrder ? parts.toSorted((one, other) => one.at - other.at) : parts
        const kept: Uint8Array[] = []
        const segments: Segment[] = []
        for (const { kind, at, length } of ordered) {
          const run = { offset: at, length: Math.min(length, sent.length - at) }
          const literal = kind === 'literal' ? bytesFor(serial, length) : await draft.read(at, run.length)
          segments.push(kind === 'run' ? run : literal)
          kept.push(Uint8Array.from(literal))
        }
        const image = Buffer.concat(kept)
        assert.equal(await draft.digest(segments), sha256Of(image))
        const record = recordOf(idFor(`s${serial++}`), image, { sentSha256: sha256Of(sent) })
        await draft.commit(record, segments)
        await assertHolds(store, record, image)
      }),
      { numRuns: extent(50, 10) },
    )
  })
}
