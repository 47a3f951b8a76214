import type { ByteSource, Segment } from '../formats/image.ts'

export function blobSource(blob: Blob): ByteSource {
  return {
    size: blob.size,
    read: async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  }
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
