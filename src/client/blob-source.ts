import type { ByteSource, Segment } from '../formats/image.ts'

export function blobSource(blob: Blob): ByteSource {
  return {
    size: blob.size,
    read: async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  }
}

/**
 * Returns the Blob itself if its slices can become parts of another Blob, otherwise a copy in memory. Bun silently drops
 * slices of a file-backed Blob (`Bun.file`) when they are joined.
 */
export async function sliceable(blob: Blob): Promise<Blob> {
  const joined = new Blob([blob.slice(0, 1)])
  return joined.size === Math.min(1, blob.size)
    ? blob
    : new Blob([await blob.arrayBuffer()], { type: blob.type })
}

/** The file without its private metadata. Copies nothing: the result references the input's bytes. */
export function blobOf(blob: Blob, segments: Segment[], type: string): Blob {
  const parts = segments.map((segment) =>
    segment instanceof Uint8Array
      ? (segment as BlobPart)
      : blob.slice(segment.offset, segment.offset + segment.length),
  )
  return new Blob(parts, { type })
}
