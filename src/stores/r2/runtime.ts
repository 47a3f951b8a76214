/** Non-standard APIs of workerd, with fallbacks that buffer all bytes, since tests also run on Node. */
import { concatBytes, toHex } from '../../bytes.ts'
import type { R2Value } from './binding.ts'

/** A stream with a known length. */
export interface FixedLength {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
}

/** Cloudflare Workers runtime APIs, "Streams" and "Web Crypto". */
const runtime = globalThis as unknown as {
  FixedLengthStream?: new (bytes: number) => FixedLength
  crypto: {
    DigestStream?: new (algorithm: Algorithm) => WritableStream<Uint8Array> & { digest: Promise<ArrayBuffer> }
  }
}

type Algorithm = 'SHA-256' | 'SHA-512'

export interface RunningDigest {
  update(chunk: Uint8Array): void | Promise<void>
  /** Digest of all chunks. */
  end(): Promise<Uint8Array>
}

export function runningDigest(algorithm: Algorithm): RunningDigest {
  const { DigestStream } = runtime.crypto
  if (DigestStream === undefined) {
    const chunks: Uint8Array[] = []
    return {
      update: (chunk) => void chunks.push(chunk.slice()),
      end: async () => new Uint8Array(await crypto.subtle.digest(algorithm, concatBytes(...chunks))),
    }
  }
  const stream = new DigestStream(algorithm)
  const writer = stream.getWriter()
  // The digest rejects if the stream is never closed.
  stream.digest.catch(() => {})
  return {
    update: (chunk) => writer.write(chunk),
    async end() {
      await writer.close()
      return new Uint8Array(await stream.digest)
    },
  }
}

/** SHA-256 of all chunks, lower-case hex. */
export async function digestOf(chunks: AsyncIterable<Uint8Array> | Uint8Array[]): Promise<string> {
  const running = runningDigest('SHA-256')
  for await (const chunk of chunks) await running.update(chunk)
  return toHex(await running.end())
}

/**
 * Puts `size` bytes with `put`, streaming if the runtime supports it. An error of `chunks` aborts the put and is rethrown.
 */
export async function putChunks<T>(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
  put: (value: R2Value) => Promise<T>,
): Promise<T> {
  const { FixedLengthStream } = runtime
  if (FixedLengthStream === undefined) return put(await gathered(chunks, size))
  const { readable, writable } = new FixedLengthStream(size)
  const writer = writable.getWriter()
  let failure: { error: unknown } | null = null
  const pumped = pump(chunks, writer).catch((error) => {
    failure ??= { error }
    return writer.abort(error)
  })
  try {
    return await put(readable)
  } catch (error) {
    // If `chunks` failed, that error is the cause; the put's own error is only a consequence.
    throw (failure as { error: unknown } | null)?.error ?? error
  } finally {
    // A put whose condition is not met ends without reading the bytes.
    failure ??= { error: null }
    await writer.abort().catch(() => {})
    await pumped.catch(() => {})
  }
}

async function pump(
  chunks: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  for await (const chunk of chunks) await writer.write(chunk)
  await writer.close()
}

async function gathered(chunks: AsyncIterable<Uint8Array>, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size)
  let at = 0
  for await (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  if (at !== size) throw new Error(`${at} bytes, expected ${size}`)
  return bytes
}
