/** The part of `Draft` that all stores share, independent of where the bytes are kept. */
import { Refusal } from '../../errors.ts'
import { type ByteSource, lengthOf, type Segment } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { type Draft, type ImageRecord, storedSize } from '../object-store.ts'

/** The bytes of a draft, in memory or in a file. */
export interface DraftBytes extends ByteSource {
  /** SHA-256 of the concatenated `segments`, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /** The concatenated `segments`, in chunks. Each call starts from the beginning. */
  bytes(segments: Segment[]): AsyncIterable<Uint8Array>
  /** Idempotent. Never rejects. */
  discard(): Promise<void>
}

/** An image to be stored: the given segments of a draft. */
export interface NewImage<Bytes = DraftBytes> {
  record: ImageRecord
  draft: Bytes
  segments: Segment[]
}

/** `store`: the store's operations on the draft. Each consumes the draft, even if it fails. */
export function draftOf<Bytes extends DraftBytes>(
  draft: Bytes,
  store: {
    commit(image: NewImage<Bytes>, isContended: boolean): Promise<void>
    replace(image: NewImage<Bytes>): Promise<'visible' | 'held' | null>
  },
): Draft {
  let isConsumed = false

  async function consume<T>(image: NewImage<Bytes>, put: () => Promise<T>): Promise<T> {
    isConsumed = true
    try {
      if (lengthOf(image.segments) !== storedSize(image.record))
        throw new Error('the segments do not match the size in the record')
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
      if (isConsumed) throw new Error('the draft was already committed or discarded')
      const image = { record, draft, segments }
      await consume(image, async () => {
        if (!ID_PATTERN.test(record.id)) throw new Error('invalid id')
        await store.commit(image, isContended)
      })
    },
    replace(record, segments) {
      const image = { record, draft, segments }
      return consume(image, async () => (ID_PATTERN.test(record.id) ? store.replace(image) : null))
    },
    discard() {
      isConsumed = true
      return draft.discard()
    },
  }
}

/** Throws `Refusal('file-too-large')`. */
export function assertWithin(limitBytes: number, size: number): void {
  if (size <= limitBytes) return
  throw new Refusal('file-too-large', `The file is larger than this server's limit of ${limitBytes} bytes.`)
}
