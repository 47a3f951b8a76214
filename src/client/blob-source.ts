import type { ByteSource, Segment } from '../formats/image.ts'

export function blobSource(blob: Blob): ByteSource {
  return {
    size: blob.size,
    read: async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  }
}

/**
 * The same, if its parts can be put together anew; else a copy in memory. Bun drops slices of a file (`Bun.file`) that
 * become parts of a Blob, without a word.
 */
export async function divisible(blob: Blob): Promise<Blob> {
  const joined = new Blob([blob.slice(0, 1)])
  return joined.size === Math.min(1, blob.size)
    ? blob
    : new Blob([await blob.arrayBuffer()], { type: blob.type })
}

/** The file without what is private in it. Copies nothing: the result refers to the input's own bytes. */
export function blobOf(blob: Blob, segments: Segment[], type: string): Blob {
  const parts = segments.map((segment) =>
    segment instanceof Uint8Array
      ? (segment as BlobPart)
      : blob.slice(segment.offset, segment.offset + segment.length),
  )
  return new Blob(parts, { type })
}
