/** A draft that was received: read, hashed and moved, or discarded. Node only. */
import type { FileHandle } from 'node:fs/promises'
import type { ByteSource, Segment } from '../../formats/image.ts'

export interface Spooled extends ByteSource {
  /** The temporary file, if there is one. It belongs to the caller: to append to, to flush, to move away. */
  readonly file: SpooledFile | null
  /** SHA-256 of what `segments` say, lower-case hex. */
  digest(segments: Segment[]): Promise<string>
  /** What `segments` say, in one run of memory that starts at a page. `null` if the draft has no such memory. */
  gather(segments: Segment[]): Gathered | null
  /** What `segments` say, in pieces. */
  bytes(segments: Segment[]): AsyncIterable<Uint8Array>
  /** Closes and removes the file. Harmless a second time, and after the file was moved away. */
  discard(): Promise<void>
}

export interface SpooledFile {
  readonly path: string
  readonly handle: FileHandle
  /** What the spool's digester found. Empty without one. */
  digests(): Uint8Array
}

export interface Gathered {
  readonly bytes: Uint8Array
  /** Puts up to 8 KB behind the bytes; gives both as one run. To be called once. */
  append(tail: Uint8Array): Uint8Array
  /** Keeps the bytes past the end of the draft, until `giveBack`: so much memory is held for them. */
  keep(): { bytes: Uint8Array; heldBytes: number; giveBack(): void }
}
