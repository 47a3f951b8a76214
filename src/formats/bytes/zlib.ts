/** In-memory zlib streams (RFC 1950). */
import { concatBytes } from '../../bytes.ts'

/**
 * Inflates a stream, or as much as the start of a stream yields. `null` when the output exceeds `maxLength`. Unit: bytes.
 */
export async function inflate(start: Uint8Array, maxLength: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const parts: Uint8Array[] = []
  let length = 0
  // Not every browser supports async iteration over streams.
  const reader = pipe(start, new DecompressionStream('deflate')).getReader()
  try {
    for (let part = await reader.read(); part.value; part = await reader.read()) {
      parts.push(part.value)
      length += part.value.length
      if (length > maxLength) return null
    }
  } catch {
    // Expected for a truncated stream: keep the output so far.
  } finally {
    void reader.cancel().catch(() => {})
  }
  return concatBytes(...parts)
}

export async function deflate(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await new Response(pipe(bytes, new CompressionStream('deflate'))).arrayBuffer())
}

function pipe(bytes: Uint8Array, transform: CompressionStream | DecompressionStream) {
  return new Blob([bytes as BlobPart]).stream().pipeThrough(transform)
}
