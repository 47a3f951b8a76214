/** Non-standard APIs of workerd, with fallbacks that buffer all bytes, since tests also run on Node. */
import { concatBytes, toHex } from '../../bytes.ts'
import type { R2Value } from './binding.ts'

interface FixedLength {
  readonly readable: ReadableStream
  readonly writable: WritableStream<Uint8Array>
}

/** Cloudflare Workers runtime APIs, "Streams" and "Web Crypto". */
const runtime = globalThis as unknown as {
  FixedLengthStream?: new (bytes: number) => FixedLength
  crypto: {
    DigestStream?: new (algorithm: 'SHA-256') => WritableStream<Uint8Array> & { digest: Promise<ArrayBuffer> }
  }
}

export interface RunningDigest {
  update(piece: Uint8Array): void | Promise<void>
  /** SHA-256 of all pieces, lower-case hex. */
  end(): Promise<string>
}

export function runningDigest(): RunningDigest {
  const { DigestStream } = runtime.crypto
  if (DigestStream === undefined) {
    const pieces: Uint8Array[] = []
    return {
      update: (piece) => void pieces.push(piece.slice()),
      end: async () => hex(await crypto.subtle.digest('SHA-256', concatBytes(...pieces))),
    }
  }
  const stream = new DigestStream('SHA-256')
  const writer = stream.getWriter()
  // The digest rejects if the stream is never closed.
  stream.digest.catch(() => {})
  return {
    update: (piece) => writer.write(piece),
    async end() {
      await writer.close()
      return hex(await stream.digest)
    },
  }
}

export async function digestOf(pieces: AsyncIterable<Uint8Array> | Uint8Array[]): Promise<string> {
  const running = runningDigest()
  for await (const piece of pieces) await running.update(piece)
  return running.end()
}

/**
 * Puts `size` bytes with `put`, streaming where the runtime supports it. An error of `pieces` aborts the put and is rethrown.
 */
export async function putPieces<T>(
  pieces: AsyncIterable<Uint8Array>,
  size: number,
  put: (value: R2Value) => Promise<T>,
): Promise<T> {
  const { FixedLengthStream } = runtime
  if (FixedLengthStream === undefined) return put(await gathered(pieces, size))
  const { readable, writable } = new FixedLengthStream(size)
  const writer = writable.getWriter()
  let failure: { error: unknown } | null = null
  const pumped = pump(pieces, writer).catch((error) => {
    failure ??= { error }
    return writer.abort(error)
  })
  try {
    return await put(readable)
  } catch (error) {
    // If `pieces` failed, that error is the cause; the put's own error is only a consequence.
    throw (failure as { error: unknown } | null)?.error ?? error
  } finally {
    // A put whose condition is not met ends without reading the bytes.
    failure ??= { error: null }
    await writer.abort().catch(() => {})
    await pumped.catch(() => {})
  }
}

async function pump(
  pieces: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  for await (const piece of pieces) await writer.write(piece)
  await writer.close()
}

async function gathered(pieces: AsyncIterable<Uint8Array>, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size)
  let at = 0
  for await (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  if (at !== size) throw new Error(`${at} bytes, expected ${size}`)
  return bytes
}

function hex(digest: ArrayBuffer): string {
  return toHex(new Uint8Array(digest))
}
