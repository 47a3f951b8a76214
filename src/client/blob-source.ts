import type { ByteSource, Segment } from '../formats/image.ts'

export function blobSource(blob: Blob): ByteSource {
  return {
    size: blob.size,
    read: async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  }
}

/**
 * Returns a Blob that can become part of another one. Bun silently drops file-backed Blobs (`Bun.file`) when they are joined, so
 * there it is a copy in memory. Browsers are not asked whether they do: in Chromium, each Blob that a page makes is a synchronous
 * call to another process.
 */
export async function sliceable(blob: Blob): Promise<Blob> {
  return 'Bun' in globalThis ? new Blob([await blob.arrayBuffer()], { type: blob.type }) : blob
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
