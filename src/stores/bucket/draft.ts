/** Drafts of images that go into a bucket. */
import { type ByteSource, lengthOf, type Segment } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { type Draft, type ImageRecord, storedSize } from '../object-store.ts'

/** Where a draft keeps its bytes. */
export interface DraftBytes extends ByteSource {
  /** SHA-256 of what `segments` say, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /** What `segments` say, in pieces; from the start for every call. */
  bytes(segments: Segment[]): AsyncIterable<Uint8Array>
  discard(): Promise<void>
}

export interface NewImage {
  record: ImageRecord
  draft: DraftBytes
  segments: Segment[]
}

export function draftOf(
  draft: DraftBytes,
  to: {
    commit(image: NewImage): Promise<void>
    replace(image: NewImage): Promise<'visible' | 'held' | null>
  },
): Draft {
  let isSpent = false

  function imageOf(record: ImageRecord, segments: Segment[]): NewImage {
    if (lengthOf(segments) !== storedSize(record)) throw new Error('the segments are of another size')
    return { record, draft, segments }
  }

  /** Whatever comes of `put`, the draft is gone. */
  async function spend<T>(put: () => Promise<T>): Promise<T> {
    isSpent = true
    try {
      return await put()
    } finally {
      await draft.discard()
    }
  }

  return {
    ...draft,
    async commit(record, segments) {
      if (isSpent) throw new Error('the draft is gone')
      await spend(async () => {
        if (!ID_PATTERN.test(record.id)) throw new Error('not an id')
        await to.commit(imageOf(record, segments))
      })
    },
    replace: (record, segments) =>
      spend(async () => (ID_PATTERN.test(record.id) ? to.replace(imageOf(record, segments)) : null)),
    discard() {
      isSpent = true
      return draft.discard()
    },
  }
}
