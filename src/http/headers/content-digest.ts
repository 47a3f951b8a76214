/** Verifies the Content-Digest of a request, if present (RFC 9530, 2). */
import { Refusal } from '../../errors.ts'
import type { Hashes } from '../../service/hashes.ts'

const ALGORITHMS = ['sha-512', 'sha-256'] as const

/** Passes the body through and throws a `Refusal` at its end on a mismatch. Unknown algorithms are ignored, as the RFC requires. */
export function checkedBody(
  body: AsyncIterable<Uint8Array>,
  header: string | undefined,
  hashes: Hashes,
): AsyncIterable<Uint8Array> {
  if (header === undefined) return body
  for (const algorithm of ALGORITHMS) {
    const expected = new RegExp(`(?:^|,)\\s*${algorithm}=:([A-Za-z0-9+/=]*):\\s*(?:[,;]|$)`).exec(header)?.[1]
    if (expected !== undefined) return verify(body, expected, hashes.running(algorithm))
    if (header.includes(`${algorithm}=`)) throw mismatch()
  }
  return body
}

async function* verify(
  body: AsyncIterable<Uint8Array>,
  expected: string,
  hash: ReturnType<Hashes['running']>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await hash.update(chunk)
    yield chunk
  }
  if ((await hash.digest()) !== expected) throw mismatch()
}

function mismatch(): Refusal {
  return new Refusal('malformed-multipart', 'The request body does not match its Content-Digest.')
}
