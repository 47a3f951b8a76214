/** What every format module speaks: random access in, facts and a list of segments out. */
import type { ImageType } from '../protocol.ts'

/** Random access to an encoded image. */
export interface ByteSource {
  /** Unit: bytes. */
  readonly size: number
  /** Up to `length` bytes from `offset`; fewer only at the end of the source. The result must not be written to. */
  read(offset: number, length: number): Promise<Uint8Array>
}

/** A run of the source's own bytes, or literal bytes to put between two runs. */
export type Segment = { readonly offset: number; readonly length: number } | Uint8Array

/** What a structural walk over a whole file finds. Nothing is decoded. */
export interface Inspection {
  type: ImageType
  /** As displayed: after orientation, rotation and cropping that the container declares. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  /** The file carries a position (Exif GPS, or XMP that names one). Clients warn of it; the server removes it. */
  hasLocation: boolean
  /** The file without what is private in it, in order. One run over the whole source if nothing is. */
  segments: Segment[]
}

/** Reads one format to its end. Throws `Refusal('damaged-image')` for anything cut off or inconsistent. */
export type Inspector = (source: ByteSource) => Promise<Inspection>

/** One run over the whole source: the file as it came. */
export function wholeOf(source: ByteSource): Segment[] {
  return [{ offset: 0, length: source.size }]
}

/** True if `segments` are the file as it came. */
export function isWhole(segments: Segment[], size: number): boolean {
  const [first, ...others] = segments
  if (!first || others.length > 0 || first instanceof Uint8Array) return false
  return first.offset === 0 && first.length === size
}

/** Unit: bytes. */
export function lengthOf(segments: Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.length, 0)
}

/** Bytes in memory as a source. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  }
}

/**
 * What is handled in one piece. Up to this size an image is received, read, stored and sent as a whole; a walk over a
 * larger one asks for no more at once. Unit: bytes.
 */
export const PIECE_BYTES = 256 * 1024

/** Sent in one piece where that holds up nobody: each piece is a trip to the kernel, and wakes its reader. Unit: bytes. */
export const LARGE_PIECE_BYTES = 1024 * 1024

/** What `segments` say, in pieces of at most a window. */
export async function* bytesOf(source: ByteSource, segments: Segment[]): AsyncGenerator<Uint8Array> {
  for (const segment of segments) {
    if (segment instanceof Uint8Array) {
      yield segment
      continue
    }
    const end = segment.offset + segment.length
    for (let at = segment.offset; at < end; ) {
      const piece = await source.read(at, Math.min(PIECE_BYTES, end - at))
      if (piece.length === 0) throw new Error('the source ended before its size')
      yield piece
      at += piece.length
    }
  }
}
