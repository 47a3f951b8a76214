/** Port: images, each ONE object, its bytes and its record, written and removed as one. */
import type { ByteSource, Segment } from '../formats/image.ts'
import { FRAME_FOOT_BYTES, FRAME_HEAD_BYTES, type ImageType, type PreviewType } from '../protocol.ts'

/** Everything known about an image. It travels with the bytes: there is no table of images. */
export interface ImageRecord {
  id: string
  type: ImageType
  /** Size of the image's bytes, without its preview. Unit: bytes. */
  size: number
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  /** SHA-256 of the image's bytes, lower-case hex. */
  sha256: string
  /** SHA-256 of the bytes as they were sent, lower-case hex. Differs if metadata was removed, or a preview came along. */
  sentSha256: string
  /** SHA-256 of the deletion key, lower-case hex. */
  keySha256: string
  /** ISO 8601, UTC. */
  createdAt: string
  /** From then on nobody is shown it. ISO 8601, UTC, whole seconds. Stores know nothing of it. Absent: never. */
  expiresAt?: string
  /** Absent if none came with the image. */
  preview?: Preview
}

/** A smaller picture of an image, which its client made. It is stored behind the image, in a frame. */
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

/** Size of an image and, if it has a preview, the frame behind it. Unit: bytes. */
export function storedSize({ size, preview }: Pick<ImageRecord, 'size' | 'preview'>): number {
  return preview === undefined ? size : size + FRAME_HEAD_BYTES + preview.size + FRAME_FOOT_BYTES
}

/** Where a preview stands among the stored bytes. `null` if there is none. */
export function previewRange({ size, preview }: ImageRecord): ContentRange | null {
  if (preview === undefined) return null
  const first = size + FRAME_HEAD_BYTES
  return { first, last: first + preview.size - 1 }
}

/** A range as asked for (RFC 9110, 14.1.2): from `first` to `last` inclusive, or the last `suffix` bytes. */
export type ByteRange = { first: number; last?: number } | { suffix: number }

/** A range as answered, both ends inclusive. Unit: bytes. */
export interface ContentRange {
  first: number
  last: number
}

/**
 * A range of an image, all of it, its preview (no bytes if it has none), all that is stored of it, as a copy needs it, or
 * only its record.
 */
export type Wanted = ByteRange | 'all' | 'preview' | 'stored' | 'nothing'

/** What is wanted, if that is known before the record is. */
export type Selection = Wanted | ((record: ImageRecord) => Wanted)

/** Whether anybody still waits for what was asked for. An `AbortSignal` is one; making one for each read is not needed. */
export type Signal = Pick<AbortSignal, 'aborted'>

export interface StoredImage {
  record: ImageRecord
  /** Set if a range was asked for. */
  range?: ContentRange
  /**
   * The bytes asked for: whole in memory, or a stream. A stream that finds its bytes cut short or changed errors
   * before its last byte, so that a damaged image never ends as a clean answer. Cancel a stream that is not read.
   */
  body: Uint8Array | ReadableStream<Uint8Array>
  /** To be called when bytes in memory have been sent, or never will be: until then the store keeps room for them. */
  release?(): void
  /** May be called with a piece of a stream that nobody reads any more: its memory then takes another piece. */
  reuse?(piece: Uint8Array): void
}

/** The bytes of an image, in pieces. */
export async function* piecesOf(body: Uint8Array | ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  // The DOM's types do not know that a stream can be iterated.
  else yield* body as unknown as AsyncIterable<Uint8Array>
}

/** The image where it is visible, or else where it is held. Throws as `open` does. */
export async function openAnywhere(
  objects: Pick<ObjectStore, 'open' | 'openHeld'>,
  id: string,
  selection?: Selection,
): Promise<StoredImage | null> {
  return (await objects.open(id, selection)) ?? objects.openHeld(id, selection)
}

/** Removes an image wherever it is, also if it is moved there and back meanwhile. Where it was; `null` if there was none. */
export async function removeAnywhere(
  objects: Pick<ObjectStore, 'remove' | 'removeHeld'>,
  id: string,
  removal?: Removal,
): Promise<'visible' | 'held' | null> {
  for (let round = 0; round < 2; round++) {
    const wasVisible = await objects.remove(id, removal)
    // Nothing is put under an id that is retired. One that is not may be in both places of a folder that was repaired.
    if (wasVisible && removal !== undefined) return 'visible'
    if (await objects.removeHeld(id, removal)) return 'held'
    if (wasVisible) return 'visible'
  }
  return null
}

/** SHA-256 of what is stored, of what was sent, and of the preview. */
export function digestsOf({
  sha256,
  sentSha256,
  preview,
}: Pick<ImageRecord, 'sha256' | 'sentSha256' | 'preview'>): string[] {
  return [sha256, sentSha256, ...(preview === undefined ? [] : [preview.sha256])]
}

/** Lets go of an image that is not sent. For a stream it resolves when what it reads from is given up. */
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
   * Receives an upload into a draft, which nobody can see yet. `limitBytes`: the largest size allowed, or the announced
   * size if that is smaller; past it `Refusal('file-too-large')` is thrown. Errors of `body` are passed on. Either way
   * nothing is left behind. Holds no more than a small constant in memory.
   *
   * A chunk of `body` is only lent: its memory is freed when the next one is asked for, so a store copies what it keeps.
   */
  draft(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Draft>
  /** The record alone. `null` if there is no such image. */
  head(id: string): Promise<ImageRecord | null>
  /**
   * As `head`, of an image that no crash takes away any more: what another request is about to store may be seen before it
   * is on the disk. `null` also if that came to nothing. `'retired'`: there is none, and never will be one again.
   */
  headDurable(id: string): Promise<ImageRecord | 'retired' | null>
  /**
   * Opens an image: all of it, unless `selection` says otherwise. `null` if there is none. Throws `UnsatisfiableRange`,
   * `DamagedObject`, and an `AbortError` once nobody waits for the image any more.
   */
  open(id: string, selection?: Selection, signal?: Signal): Promise<StoredImage | null>
  /**
   * Reads all of an image and of its preview and compares them with the SHA-256 of the record: `open` may check less.
   * `null` if there is none. Throws `DamagedObject`. A store may take the chance to write down what makes later reads
   * cheaper.
   */
  verify(id: string): Promise<ImageRecord | null>
  /** Removes an image for good: after it resolves, no crash brings it back. `false` if there was none. */
  remove(id: string, removal?: Removal): Promise<boolean>
  /** Every id in the store after `after`, in ascending order of code units, across pages. */
  list(after?: string): AsyncIterable<string>
  /** Resolves if an image could be written now. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface Removal {
  /**
   * The id is retired with its image: contended commits throw `IdTaken` from then on, also those that are under way in other
   * processes. `unless-full`: a store with no room to remember it removes the image all the same; otherwise it throws
   * `StoreFull`, and the image stays. Without `retire` the id is free again.
   */
  retire: 'surely' | 'unless-full'
}

/**
 * Images out of sight, until they are released: nothing above but these methods knows them. An image is in one place at
 * every moment, visible or held, also if the process is killed in the middle. Each change is durable when it resolves,
 * and may be repeated to make sure of one whose process died.
 */
export interface HeldImages {
  /** Takes an image out of sight. `false` if no such image is visible. */
  hold(id: string): Promise<boolean>
  /** Brings it back: the same bytes under the same record. `false` if none is held. */
  release(id: string): Promise<boolean>
  /** The record alone. `null` if none is held. */
  headHeld(id: string): Promise<ImageRecord | null>
  /** Opens a held image as `open` does. `null` if there is none. */
  openHeld(id: string, selection?: Selection): Promise<StoredImage | null>
  /** Removes a held image for good. `false` if there was none. */
  removeHeld(id: string, removal?: Removal): Promise<boolean>
  /**
   * Every id that is held after `after`, in ascending order of code units. Also removes what was left there by processes killed
   * in the middle of a move.
   */
  listHeld(after?: string): AsyncIterable<string>
}

/** `read` gives random access, for `formats/`. */
export interface Draft extends ByteSource {
  /** SHA-256 of what `commit` would store, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /**
   * Makes it visible under `record.id`, whole and durable, or not at all. `segments`: the image, which must have
   * `record.sha256`, and the frame of its preview if it has one. Throws `IdTaken` if the id exists. The draft can't be
   * used afterwards, whatever the outcome.
   *
   * `isContended`: the id was not drawn for this image alone, so that another process may be about to take it. Exactly
   * one of them wins, and the image of the winner is durable before `IdTaken` is thrown. A retired id is taken.
   */
  commit(record: ImageRecord, segments: Segment[], options?: { isContended: boolean }): Promise<void>
  /**
   * Puts it in place of a stored image of the same id that is damaged, in one step: a crash leaves the old one or the
   * new one. It is visible or held as that was. `null` if there is none: it was removed meanwhile.
   */
  replace(record: ImageRecord, segments: Segment[]): Promise<'visible' | 'held' | null>
  /** Forgets the bytes. Harmless after `commit` or a second time. */
  discard(): Promise<void>
}

/** Whether a draft is what a store has of the record's image, preview included. */
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

/** The id has an image, or is retired. */
export class IdTaken extends Error {
  constructor() {
    super('id taken')
    this.name = 'IdTaken'
  }
}

/** The store has no room left. The service answers 507. */
export class StoreFull extends Error {
  constructor(options?: ErrorOptions) {
    super('store full', options)
    this.name = 'StoreFull'
  }
}

/** The store can't be reached or written now, and trying again later may help. The service answers 503. */
export class StoreUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('store unavailable', options)
    this.name = 'StoreUnavailable'
  }
}

/** The bytes do not match the record: bit rot, or a cut file. Never answered as 200. */
export class DamagedObject extends Error {
  constructor(id: string, options?: ErrorOptions) {
    super(`stored image ${id} is damaged`, options)
    this.name = 'DamagedObject'
  }
}

/** The bytes that `range` names of an object of `size` bytes. Throws `UnsatisfiableRange`. */
export function resolveRange(range: ByteRange, size: number): ContentRange {
  if ('suffix' in range) {
    if (range.suffix === 0 || size === 0) throw new UnsatisfiableRange(size)
    return { first: Math.max(0, size - range.suffix), last: size - 1 }
  }
  if (range.first >= size) throw new UnsatisfiableRange(size)
  return { first: range.first, last: Math.min(range.last ?? size - 1, size - 1) }
}
