/** The interface of every format module: random access in, an inspection and a list of segments out. */
import { concatBytes } from '../bytes.ts'
import type { ImageType } from '../protocol.ts'

/** Random access to an encoded image. */
export interface ByteSource {
  /** Unit: bytes. */
  readonly size: number
  /** Up to `length` bytes from `offset`; fewer only at the end of the source. The result must not be written to. */
  read(offset: number, length: number): Promise<Uint8Array>
}

/** A byte range of the source, or literal bytes to insert between two ranges. */
export type Segment = { readonly offset: number; readonly length: number } | Uint8Array

/** The result of a structural walk over a whole file. Nothing is decoded. */
export interface Inspection {
  type: ImageType
  /** As displayed, after the orientation, rotation and cropping declared by the container. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  /** The file contains a location (Exif GPS or XMP). Clients warn about it; the server removes it. */
  hasLocation: boolean
  /** The file without private metadata, in order. One range over the whole source when there is nothing to remove. */
  segments: Segment[]
}

/** Reads a whole file of one format. Throws `Refusal('damaged-image')` when it is truncated or inconsistent. */
export type Inspector = (source: ByteSource) => Promise<Inspection>

/** The unchanged file: one range over the whole source. */
export function wholeFile(source: ByteSource): Segment[] {
  return [{ offset: 0, length: source.size }]
}

/** True if `segments` are the unchanged file. */
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
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  }
}

/**
 * Chunk size for I/O. Images up to this size are received, read, stored and sent in one piece; walks over larger ones
 * read at most this much at a time. Unit: bytes.
 */
export const CHUNK_BYTES = 256 * 1024

/**
 * Larger chunk size for sending, where it delays nobody: each chunk costs a system call and wakes its reader. Unit: bytes.
 */
export const LARGE_CHUNK_BYTES = 1024 * 1024

/** The bytes described by `segments`, in chunks; ranges of the source in chunks of at most `CHUNK_BYTES`. */
export async function* readSegments(source: ByteSource, segments: Segment[]): AsyncGenerator<Uint8Array> {
  for (const segment of segments) {
    if (segment instanceof Uint8Array) {
      yield segment
      continue
    }
    const end = segment.offset + segment.length
    for (let at = segment.offset; at < end; ) {
      const chunk = await source.read(at, Math.min(CHUNK_BYTES, end - at))
      if (chunk.length === 0) throw new Error('the source ended before its size')
      yield chunk
      at += chunk.length
    }
  }
}

/** Like `readSegments`, all in memory. */
export async function readAll(source: ByteSource, segments: Segment[]): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readSegments(source, segments)) chunks.push(chunk)
  return concatBytes(...chunks)
}
