/** iCCP (W3C PNG 3, 11.3.2.3): a name for people, and a profile that is deflated. */
import { joined } from '../../bytes.ts'
import { ascii, latin1 } from '../bytes/text.ts'
import { ICC_HEADER_BYTES, MOST_PROFILE_BYTES, profileLength } from '../metadata/icc.ts'

/** Names that encoders give every profile. Others may say whose screen it was. */
const ENCODERS_NAMES: ReadonlySet<string> = new Set([
  'icc',
  'ICC',
  'ICC profile',
  'ICC Profile',
  'Embedded Profile',
])

/** Profiles deflate to a half or a tenth; what deflates to less is made to fill memory. */
const MOST_INFLATION = 64

/**
 * What is kept of a chunk's `body`: the body itself, one that says the same and nothing else, or `null` if it holds no
 * profile: decoders pass over it then.
 */
export async function keptProfile(body: Uint8Array): Promise<Uint8Array | null> {
  const nameEnd = body.indexOf(0)
  // A name, a zero byte, and the only method there is: 0.
  if (nameEnd < 1 || nameEnd > 79 || body[nameEnd + 1] !== 0) return null
  const { bytes, isExact } = await inflated(body.slice(nameEnd + 2))
  const length = profileLength(bytes.subarray(0, ICC_HEADER_BYTES), bytes.length)
  if (length === null) return null
  if (isExact && length === bytes.length && ENCODERS_NAMES.has(latin1(body.subarray(0, nameEnd)))) return body
  return joined(ascii('icc\0\0'), await deflated(bytes.slice(0, length)))
}

/** No more than a profile takes. `isExact`: the stream ended where `zlib` ends. */
async function inflated(zlib: Uint8Array<ArrayBuffer>): Promise<{ bytes: Uint8Array; isExact: boolean }> {
  const most = Math.min(MOST_PROFILE_BYTES, MOST_INFLATION * zlib.length)
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    // Not every browser can iterate over a stream.
    const reader = new Blob([zlib]).stream().pipeThrough(new DecompressionStream('deflate')).getReader()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      pieces.push(read.value)
      length += read.value.length
      if (length <= most) continue
      await reader.cancel()
      return { bytes: joined(...pieces), isExact: false }
    }
    return { bytes: joined(...pieces), isExact: true }
  } catch {
    // Cut off, no zlib, or bytes behind its end. Decoders take a profile that came out whole.
    return { bytes: joined(...pieces), isExact: false }
  }
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
