/** Serves texts that never change while the server runs: compressed once, revalidated by ETag. */
import { toHex } from '../../bytes.ts'
import { type Representation, responseWith } from '../answer.ts'
import type { AppContext } from '../context.ts'
import { ifNoneMatchMatches } from '../headers/conditional.ts'
import { acceptsCoding } from '../headers/negotiate.ts'

/** In order of preference: the name in `Accept-Encoding` and the format name of `CompressionStream`. */
const CODINGS = [
  ['br', 'brotli'],
  ['gzip', 'gzip'],
] as const

export type FixedText = (c: AppContext) => Promise<Response>

/** Returns a function that selects the best representation the client accepts. Each one is compressed on first use and kept. */
export function representations(
  plain: Uint8Array<ArrayBuffer>,
): (acceptEncoding: string | undefined) => Promise<Representation> {
  // Bytes, not promises: on Workers, awaiting another request's promise never returns if that request is cut off.
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

/** `headers`: added to each response, besides those that describe the representation. */
export function fixedText(text: string, type: string, headers: Record<string, string>): FixedText {
  const plain = new TextEncoder().encode(text)
  let digest: string | undefined
  const represent = representations(plain)

  return async (c) => {
    const chosen = await represent(c.req.header('Accept-Encoding'))
    digest ??= toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', plain)))
    const etag = chosen.coding === null ? `"${digest}"` : `"${digest}-${chosen.coding}"`
    const validators = { ...headers, ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' }
    if (ifNoneMatchMatches(c.req.header('If-None-Match') ?? '', etag)) {
      return new Response(null, { status: 304, headers: validators })
    }
    return responseWith(chosen, { ...validators, 'Content-Type': type })
  }
}

/** `null` when the platform does not support the format. */
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
