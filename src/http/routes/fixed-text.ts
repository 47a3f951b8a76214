/** A text that never changes while a service runs: compressed once, and asked about by its tag. */
import { toHex } from '../../bytes.ts'
import { sharedBody } from '../answer.ts'
import type { AppContext } from '../context.ts'
import { noneMatchNames } from '../headers/conditional.ts'
import { acceptsCoding } from '../headers/negotiate.ts'

/** The best first. Names as in `Accept-Encoding`, and as `CompressionStream` has them. */
const CODINGS = [
  ['br', 'brotli'],
  ['gzip', 'gzip'],
] as const

interface Representation {
  bytes: Uint8Array<ArrayBuffer>
  /** `null`: as it is. */
  coding: string | null
}

export type FixedText = (c: AppContext) => Promise<Response>

/** The best representation that a client takes. Each is made when it is first asked for, and kept. */
export function representations(
  plain: Uint8Array<ArrayBuffer>,
): (acceptEncoding: string | undefined) => Promise<Representation> {
  // Bytes, not promises: on Workers a request that waits for another's waits for ever if that one is cut off.
  const compressed = new Map<string, Uint8Array<ArrayBuffer>>()

  return async (acceptEncoding) => {
    for (const [coding, format] of CODINGS) {
      const compressor = acceptsCoding(acceptEncoding, coding) ? compressorOf(format) : null
      if (compressor === null) continue
      let bytes = compressed.get(coding)
      if (bytes === undefined) {
        bytes = await compress(plain, compressor)
        compressed.set(coding, bytes)
      }
      return { bytes, coding }
    }
    return { bytes: plain, coding: null }
  }
}

/** `headers`: of each answer, besides those that say which representation it is. */
export function fixedText(text: string, type: string, headers: Record<string, string>): FixedText {
  const plain = new TextEncoder().encode(text)
  let digest: string | undefined
  const represent = representations(plain)

  return async (c) => {
    const { bytes, coding } = await represent(c.req.header('Accept-Encoding'))
    digest ??= toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', plain)))
    const etag = coding === null ? `"${digest}"` : `"${digest}-${coding}"`
    const told = { ...headers, ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' }
    if (noneMatchNames(c.req.header('If-None-Match') ?? '', etag)) {
      return new Response(null, { status: 304, headers: told })
    }
    return new Response(sharedBody(bytes), {
      headers: {
        ...told,
        'Content-Type': type,
        'Content-Length': `${bytes.length}`,
        ...(coding !== null && { 'Content-Encoding': coding }),
      },
    })
  }
}

/** `null` where the platform does not know the format. */
function compressorOf(format: string): CompressionStream | null {
  try {
    return new CompressionStream(format as CompressionFormat)
  } catch {
    return null
  }
}

async function compress(
  bytes: Uint8Array<ArrayBuffer>,
  compressor: CompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(compressor)
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
