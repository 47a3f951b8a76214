/**
 * A scanner with an HTTP API: the image bytes are POSTed, compatible with `external_validation` of pict-rs
 * (https://git.asonix.dog/asonix/pict-rs), e.g. https://github.com/db0/pictrs-safety. Responses: 2xx is clean, unless a JSON
 * body has another verdict; 406, 422 and 451 are block; anything else is no verdict.
 */
import { RemoteFailure } from '../errors.ts'
import { parseJsonObject } from '../json.ts'
import { type Scanner, type ScanTarget, type Verdict, verdictOf } from './scanner.ts'

const BLOCKING = [406, 422, 451]

/** Maximum size of a response. Unit: bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024

/** `FixedLengthStream` of Workers: a body of known length. */
type FixedLength = new (bytes: number) => TransformStream<Uint8Array, Uint8Array>

/** `url` may contain a user name and password, sent as `Authorization: Basic`. */
export function httpScanner(url: string): Scanner {
  const { href, credentials } = withoutCredentials(url)
  // RFC 7617, section 2.1: UTF-8.
  const authorization: Record<string, string> =
    credentials === ':'
      ? {}
      : { Authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(credentials)))}` }

  async function send(image: ScanTarget, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: {
        ...authorization,
        'Content-Type': image.type,
        // Validators behind WSGI cannot read chunked bodies.
        'Content-Length': `${image.size}`,
        'Pinhole-Sha256': image.sha256,
      },
      body: streamOf(image),
      duplex: 'half',
      // A redirect could send the image to another host.
      redirect: 'manual',
      signal,
    }
    const response = await fetch(href, init)
    return { status: response.status, text: await textOf(response) }
  }

  return {
    async scan(image, signal) {
      try {
        return toVerdict(await send(image, signal))
      } catch (cause) {
        if (cause instanceof RemoteFailure) throw cause
        throw new RemoteFailure('the scanner gave no verdict', undefined, { cause })
      }
    },
  }
}

function withoutCredentials(url: string): { href: string; credentials: string } {
  const parsed = new URL(url)
  const credentials = decodeURIComponent(`${parsed.username}:${parsed.password}`)
  parsed.username = ''
  parsed.password = ''
  return { href: parsed.href, credentials }
}

function toVerdict({ status, text }: { status: number; text: string }): Verdict {
  // Not every validator responds with JSON.
  const verdict = verdictOf(parseJsonObject(text))
  if (BLOCKING.includes(status)) return { category: null, finding: '', ...verdict, verdict: 'block' }
  if (status >= 200 && status < 300) return verdict ?? { verdict: 'clean', category: null, finding: '' }
  throw new RemoteFailure(`the scanner responded with status ${status}`)
}

function streamOf({ size, bytes }: ScanTarget): ReadableStream<Uint8Array> {
  const chunks = bytes()[Symbol.asyncIterator]()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      // A copy, as the store reuses the memory of its chunks.
      else controller.enqueue(value.slice())
    },
    async cancel() {
      await chunks.return?.()
    },
  })
  const { FixedLengthStream } = globalThis as { FixedLengthStream?: FixedLength }
  return FixedLengthStream === undefined ? stream : stream.pipeThrough(new FixedLengthStream(size))
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let received = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    received += chunk.length
    // Throwing leaves the loop, which closes the connection.
    if (received > MAX_RESPONSE_BYTES) throw new RemoteFailure('the response of the scanner is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}
