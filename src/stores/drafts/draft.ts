/** What a draft is in every store, wherever it keeps its bytes. */
import { Refusal } from '../../errors.ts'
import { type ByteSource, lengthOf, type Segment } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { type Draft, type ImageRecord, storedSize } from '../object-store.ts'

/** Where a draft keeps its bytes. */
export interface DraftBytes extends ByteSource {
  /** SHA-256 of what `segments` say, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /** What `segments` say, in pieces; from the start for every call. */
  bytes(segments: Segment[]): AsyncIterable<Uint8Array>
  /** Harmless a second time. */
  discard(): Promise<void>
}

/** An image that is to be stored: what `segments` say of a draft. */
export interface NewImage<Bytes = DraftBytes> {
  record: ImageRecord
  draft: Bytes
  segments: Segment[]
}

/** `to`: what a store does with an image of the draft, which is gone afterwards, whatever comes of it. */
export function draftOf<Bytes extends DraftBytes>(
  draft: Bytes,
  to: {
    commit(image: NewImage<Bytes>, isContended: boolean): Promise<void>
    replace(image: NewImage<Bytes>): Promise<'visible' | 'held' | null>
  },
): Draft {
  let isSpent = false

  async function spend<T>(image: NewImage<Bytes>, put: () => Promise<T>): Promise<T> {
    isSpent = true
    try {
      if (lengthOf(image.segments) !== storedSize(image.record))
        throw new Error('the segments are of another size')
      return await put()
    } finally {
      await draft.discard()
    }
  }

  return {
    size: draft.size,
    read: draft.read,
    digest: draft.digest,
    async commit(record, segments, { isContended } = { isContended: false }) {
      if (isSpent) throw new Error('the draft is gone')
      const image = { record, draft, segments }
      await spend(image, async () => {
        if (!ID_PATTERN.test(record.id)) throw new Error('not an id')
        await to.commit(image, isContended)
      })
    },
    replace(record, segments) {
      const image = { record, draft, segments }
      return spend(image, async () => (ID_PATTERN.test(record.id) ? to.replace(image) : null))
    },
    discard() {
      isSpent = true
      return draft.discard()
    },
  }
}

/** Throws `Refusal('file-too-large')`. */
export function assertWithin(limitBytes: number, size: number): void {
  if (size <= limitBytes) return
  throw new Refusal(
    'file-too-large',
    `The file is larger than ${limitBytes} bytes, the most this server accepts.`,
  )
}
