/** Content-Digest of a request (RFC 9530, 2): checked where it is sent. */
import { Refusal } from '../../errors.ts'
import type { Hashes } from '../../service/hashes.ts'

const ALGORITHMS = ['sha-512', 'sha-256'] as const

/**
 * The body, and at its end a `Refusal` if it was another one. Algorithms that the service does not know are ignored, as
 * the RFC has it.
 */
export function checkedBody(
  body: AsyncIterable<Uint8Array>,
  header: string | undefined,
  hashes: Hashes,
): AsyncIterable<Uint8Array> {
  if (header === undefined) return body
  for (const algorithm of ALGORITHMS) {
    const sent = new RegExp(`(?:^|,)\\s*${algorithm}=:([A-Za-z0-9+/=]*):\\s*(?:[,;]|$)`).exec(header)?.[1]
    if (sent !== undefined) return checked(body, sent, hashes.running(algorithm))
    if (header.includes(`${algorithm}=`)) throw mismatch()
  }
  return body
}

async function* checked(
  body: AsyncIterable<Uint8Array>,
  sent: string,
  hash: ReturnType<Hashes['running']>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest() !== sent) throw mismatch()
}

function mismatch(): Refusal {
  return new Refusal('malformed-multipart', 'The body does not match its Content-Digest.')
}
