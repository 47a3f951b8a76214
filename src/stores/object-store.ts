/** Port: object store for images. Each image is ONE object, bytes and record, written and removed atomically. */
import type { ByteSource, Segment } from '../formats/image.ts'
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES, type ImageType, type PreviewType } from '../protocol.ts'

/** Everything known about an image. Stored with its bytes: there is no table of images. */
export interface ImageRecord {
  id: string
  type: ImageType
  /** Size of the image, without its preview. Unit: bytes. */
  size: number
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  /** SHA-256 of the image's bytes, lower-case hex. */
  sha256: string
  /** SHA-256 of the bytes as uploaded, lower-case hex. Differs if metadata was stripped or a preview was included. */
  sentSha256: string
  /** SHA-256 of the deletion key, lower-case hex. */
  keySha256: string
  /** ISO 8601, UTC. */
  createdAt: string
  /** Not shown from this time on. ISO 8601, UTC, whole seconds. Not interpreted by stores. Absent: never expires. */
  expiresAt?: string
  /** Absent if the image was uploaded without one. */
  preview?: Preview
}

/** A smaller version of an image, made by the client. Stored after the image, in a frame. */
export interface Preview {
  type: PreviewType
  /** Unit: bytes. */
  size: number
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  /** SHA-256 of its bytes, lower-case hex. */
  sha256: string
}

/** Size of an image and, if it has a preview, of the frame after it. Unit: bytes. */
export function storedSize({ size, preview }: Pick<ImageRecord, 'size' | 'preview'>): number {
  return preview === undefined ? size : size + FRAME_HEAD_BYTES + preview.size + FRAME_FOOT_BYTES
}

/** Location of the preview in the stored bytes. `null` if there is none. */
export function previewRange({ size, preview }: ImageRecord): ContentRange | null {
  if (preview === undefined) return null
  const first = size + FRAME_HEAD_BYTES
  return { first, last: first + preview.size - 1 }
}

/** A requested range (RFC 9110, 14.1.2): from `first` to `last` inclusive, or the last `suffix` bytes. */
export type ByteRange = { first: number; last?: number } | { suffix: number }

/** A range as served, both ends inclusive. Unit: bytes. */
export interface ContentRange {
  first: number
  last: number
}

/**
 * What to read: a range of the image, all of it, its preview (no bytes if it has none), all stored bytes (for a copy), or only
 * the record.
 */
export type ReadSelection = ByteRange | 'all' | 'preview' | 'stored' | 'nothing'

/** What to read, or a function that decides once the record is known. */
export type Selection = ReadSelection | ((record: ImageRecord) => ReadSelection)

export interface StoredImage {
  record: ImageRecord
  /** Set if a range was requested. */
  range?: ContentRange
  /**
   * The selected bytes, in memory or as a stream. A stream whose bytes turn out truncated or altered errors before its last
   * byte, so that a damaged image never looks like a complete response. Cancel a stream that is not read.
   */
  body: Uint8Array | ReadableStream<Uint8Array>
  /** Call once in-memory bytes have been sent or dropped: the store reserves memory for them until then. */
  release?(): void
  /** Optional: returns a consumed chunk of the stream, so that its memory can be reused for another. */
  reuse?(chunk: Uint8Array): void
}

/** The bytes of an image, in chunks. */
export async function* chunksOf(body: Uint8Array | ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}

/** Opens an image, visible or held, even if it is released meanwhile. Throws as `open` does. */
export async function openAnywhere(
  objects: Pick<ObjectStore, 'open' | 'openHeld'>,
  id: string,
  selection?: Selection,
): Promise<StoredImage | null> {
  return (
    (await objects.open(id, selection)) ??
    (await objects.openHeld(id, selection)) ??
    objects.open(id, selection)
  )
}

/** Attempts to remove an image that keeps being held and released. */
const MAX_REMOVALS = 10

/** Removes an image, visible or held, even while it is being moved. Resolves to where it was; `null` if there was none. */
export async function removeAnywhere(
  objects: Pick<ObjectStore, 'remove' | 'removeHeld' | 'head' | 'headHeld'>,
  id: string,
  removal?: Removal,
): Promise<'visible' | 'held' | null> {
  for (let attempt = 1; attempt <= MAX_REMOVALS; attempt++) {
    const wasVisible = await objects.remove(id, removal)
    // Nothing is ever stored under a retired ID again. Without retirement, a repaired folder may have it visible and held.
    if (wasVisible && removal !== undefined) return 'visible'
    if (await objects.removeHeld(id, removal)) return 'held'
    if (wasVisible) return 'visible'
    if (attempt > 1 && !(await isAnywhere(objects, id))) return null
  }
  throw new StoreUnavailable({ cause: new Error('the image kept being held and released') })
}

/** Finds a visible or held image, even if it is released meanwhile. `null` if it is neither. */
export async function findAnywhere(
  { head, headHeld }: Pick<ObjectStore, 'head' | 'headHeld'>,
  id: string,
): Promise<{ record: ImageRecord; state: 'visible' | 'held' } | null> {
  let record = await head(id)
  if (record !== null) return { record, state: 'visible' }
  record = await headHeld(id)
  if (record !== null) return { record, state: 'held' }
  record = await head(id)
  return record && { record, state: 'visible' }
}

/** Whether an image is visible or held. `true` for a damaged one too. */
export async function isAnywhere(
  objects: Pick<ObjectStore, 'head' | 'headHeld'>,
  id: string,
): Promise<boolean> {
  try {
    return (await findAnywhere(objects, id)) !== null
  } catch (error) {
    if (isUnreadable(error)) return true
    throw error
  }
}

/** An unreadable disk sector (EIO) counts as damage too. */
export function isUnreadable(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } }
  return error instanceof DamagedObject || (error instanceof StoreUnavailable && cause?.code === 'EIO')
}

/** SHA-256 of the stored bytes, of the bytes as uploaded, and of the preview, without duplicates. */
export function digestsOf({
  sha256,
  sentSha256,
  preview,
}: Pick<ImageRecord, 'sha256' | 'sentSha256' | 'preview'>): string[] {
  return [...new Set([sha256, sentSha256, ...(preview === undefined ? [] : [preview.sha256])])]
}

/** Releases an image that is not going to be sent. For a stream, resolves once its source is closed. */
export async function dispose({
  body,
  release,
}: {
  body: unknown
  release?: (() => void) | undefined
}): Promise<void> {
  release?.()
  if (body instanceof ReadableStream) await body.cancel()
}

export interface ObjectStore extends HeldImages {
  /**
   * Receives an upload into a draft, which is not visible yet. `limitBytes`: the maximum size, or the announced size if
   * smaller; throws `Refusal('file-too-large')` beyond it. Passes errors of `body` on. On failure nothing is left behind.
   * Memory use is a small constant.
   *
   * Chunks of `body` are only borrowed: their memory is freed when the next one is requested, so a store copies what it keeps.
   */
  draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft>
  /** Reads only the record. `null` if there is no such image. */
  head(id: string): Promise<ImageRecord | null>
  /**
   * Like `head`, but only for an image that is already durable: one that another request is storing may be visible before
   * it is on disk. `null` also if that commit failed. `'retired'`: the ID has no image, and never will again.
   */
  headDurable(id: string): Promise<ImageRecord | 'retired' | null>
  /**
   * Opens an image: all of it, unless `selection` says otherwise. `null` if there is none. Throws `UnsatisfiableRange`,
   * `DamagedObject`.
   */
  open(id: string, selection?: Selection): Promise<StoredImage | null>
  /**
   * Reads a whole image and its preview and compares both with the record's SHA-256: `open` may check less. `null` if there
   * is none. Throws `DamagedObject`. A store may use the occasion to store metadata that makes later reads cheaper.
   */
  verify(id: string): Promise<ImageRecord | null>
  /** Removes an image durably: once this resolves, no crash brings it back. `false` if there was none. */
  remove(id: string, removal?: Removal): Promise<boolean>
  /** Every ID after `after`, sorted by code unit, read in pages. */
  list(after?: string): AsyncIterable<string>
  /** Resolves if the store is currently writable. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface Removal {
  /**
   * Retires the ID along with its image: contended commits throw `IdTaken` from then on, including those in flight in other
   * processes. `unless-full`: if the store has no space to record the retirement, it removes the image anyway; `surely`
   * throws `StoreFull` then, and keeps the image. Without `retire` the ID can be used again.
   */
  retire: 'surely' | 'unless-full'
}

/**
 * Held images: hidden until released, and accessible only through these methods. At any moment an image is either visible or
 * held, even if the process is killed in the middle of a move. Each change is durable when it resolves, and idempotent, so
 * that it can be retried after a process died.
 */
export interface HeldImages {
  /** Hides an image. `false` if no such image is visible. */
  hold(id: string): Promise<boolean>
  /** Makes it visible again, with the same bytes and record. `false` if none is held. */
  release(id: string): Promise<boolean>
  /** Reads only the record. `null` if none is held. */
  headHeld(id: string): Promise<ImageRecord | null>
  /** Opens a held image as `open` does. `null` if there is none. */
  openHeld(id: string, selection?: Selection): Promise<StoredImage | null>
  /** Removes a held image durably. `false` if there was none. */
  removeHeld(id: string, removal?: Removal): Promise<boolean>
  /** Every held ID after `after`, sorted by code unit. Also removes leftovers of processes killed in the middle of a move. */
  listHeld(after?: string): AsyncIterable<string>
}

/** `read` gives random access, for `formats/`. */
export interface Draft extends ByteSource {
  /** SHA-256 of the bytes that `commit` would store, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /**
   * Makes the draft visible under `record.id`, atomically and durably. `segments`: the image, which must match
   * `record.sha256`, and the frame of its preview, if any. Throws `IdTaken` if the ID exists. Consumes the draft, whatever
   * the outcome.
   *
   * `isContended`: the ID is not a random one, so other processes may commit it concurrently. Exactly one of them wins; ask
   * `headDurable` for its image. A retired ID counts as taken.
   */
  commit(record: ImageRecord, segments: Segment[], options?: { isContended: boolean }): Promise<void>
  /**
   * Replaces a damaged image of the same ID atomically: a crash leaves the old one or the new one. Stays visible or held, as
   * the old one was. `null` if there is none, because it has been removed.
   */
  replace(record: ImageRecord, segments: Segment[]): Promise<'visible' | 'held' | null>
  /** Discards the bytes. Idempotent, and harmless after `commit`. */
  discard(): Promise<void>
}

/** Whether a draft matches the record's image as stored, preview included. */
export async function isCopyOf(record: ImageRecord, draft: Pick<Draft, 'size' | 'digest'>): Promise<boolean> {
  if (draft.size !== storedSize(record)) return false
  if ((await draft.digest([{ offset: 0, length: record.size }])) !== record.sha256) return false
  const { preview } = record
  if (preview === undefined) return true
  const { first } = previewRange(record)!
  return (await draft.digest([{ offset: first, length: preview.size }])) === preview.sha256
}

/** A range that starts past the end (RFC 9110, 15.5.17). */
export class UnsatisfiableRange extends Error {
  /** Size of the whole image. Unit: bytes. */
  readonly size: number

  constructor(size: number) {
    super('range not satisfiable')
    this.name = 'UnsatisfiableRange'
    this.size = size
  }
}

/** The ID is in use or retired. */
export class IdTaken extends Error {
  constructor() {
    super('id taken')
    this.name = 'IdTaken'
  }
}

/** The store has no space left. The service answers 507. */
export class StoreFull extends Error {
  constructor(options?: ErrorOptions) {
    super('store full', options)
    this.name = 'StoreFull'
  }
}

/** The store can't be reached or written; a retry may succeed. The service answers 503. */
export class StoreUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('store unavailable', options)
    this.name = 'StoreUnavailable'
  }
}

/** The bytes do not match the record: bit rot, or a truncated file. Never answered with 200. */
export class DamagedObject extends Error {
  constructor(id: string, options?: ErrorOptions) {
    super(`stored image ${id} is damaged`, options)
    this.name = 'DamagedObject'
  }
}

/** Resolves `range` against an object of `size` bytes. Throws `UnsatisfiableRange`. */
export function resolveRange(range: ByteRange, size: number): ContentRange {
  if ('suffix' in range) {
    if (range.suffix === 0 || size === 0) throw new UnsatisfiableRange(size)
    return { first: Math.max(0, size - range.suffix), last: size - 1 }
  }
  if (range.first >= size) throw new UnsatisfiableRange(size)
  return { first: range.first, last: Math.min(range.last ?? size - 1, size - 1) }
}
