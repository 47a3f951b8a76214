/** zlib streams (RFC 1950) that are held in memory. */
import { joined } from '../../bytes.ts'

/** All that the start of a stream, or the whole, holds; `null` if that is more than `most`. Unit: bytes. */
export async function inflated(start: Uint8Array, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const parts: Uint8Array[] = []
  let length = 0
  // Not every browser can iterate over a stream.
  const reader = through(start, new DecompressionStream('deflate')).getReader()
  try {
    for (let part = await reader.read(); part.value; part = await reader.read()) {
      parts.push(part.value)
      length += part.value.length
      if (length > most) return null
    }
  } catch {
    // The start of a stream has no end: what came out of it is what was wanted.
  } finally {
    void reader.cancel().catch(() => {})
  }
  return joined(...parts)
}

export async function deflated(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await new Response(through(bytes, new CompressionStream('deflate'))).arrayBuffer())
}

function through(bytes: Uint8Array, transform: CompressionStream | DecompressionStream) {
  return new Blob([bytes as BlobPart]).stream().pipeThrough(transform)
}
