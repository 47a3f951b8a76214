/**
 * A scanner behind an HTTP address: POST of the bytes, as pict-rs asks its `external_validation`
 * (https://git.asonix.dog/asonix/pict-rs), e.g. https://github.com/db0/pictrs-safety. Its answer: 2xx clean, unless the body
 * says otherwise in JSON; 406, 422 or 451 block; anything else is no verdict.
 */
import { RemoteFailure } from '../errors.ts'
import { jsonObject } from '../json.ts'
import { type Scanned, type Scanner, type Verdict, verdictOf } from './scanner.ts'

const BLOCKING = [406, 422, 451]

/** Longest answer that is read. Unit: bytes. */
const ANSWER_MOST_BYTES = 64 * 1024

/** A class of Workers: a body of a known length. */
type FixedLength = new (bytes: number) => TransformStream<Uint8Array, Uint8Array>

/** `url`: may have a user and a password, for `Authorization: Basic`. */
export function httpScanner(url: string): Scanner {
  const { href, credentials } = addressOf(url)
  // RFC 7617, section 2.1: UTF-8.
  const login: Record<string, string> =
    credentials === ':'
      ? {}
      : { Authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(credentials)))}` }

  async function ask(image: Scanned, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: {
        ...login,
        'Content-Type': image.type,
        // Validators behind WSGI read no chunked body.
        'Content-Length': `${image.size}`,
        'Pinhole-Sha256': image.sha256,
      },
      body: streamOf(image),
      duplex: 'half',
      // A redirect would send the picture to another host.
      redirect: 'manual',
      signal,
    }
    const response = await fetch(href, init)
    return { status: response.status, text: await textOf(response) }
  }

  return {
    async scan(image, signal) {
      try {
        return toVerdict(await ask(image, signal))
      } catch (cause) {
        if (cause instanceof RemoteFailure) throw cause
        throw new RemoteFailure('the scanner gave no verdict', undefined, { cause })
      }
    },
  }
}

function addressOf(url: string): { href: string; credentials: string } {
  const parsed = new URL(url)
  const credentials = decodeURIComponent(`${parsed.username}:${parsed.password}`)
  parsed.username = ''
  parsed.password = ''
  return { href: parsed.href, credentials }
}

function toVerdict({ status, text }: { status: number; text: string }): Verdict {
  // Not every validator answers JSON.
  const said = verdictOf(jsonObject(text))
  if (BLOCKING.includes(status)) return { category: null, finding: '', ...said, verdict: 'block' }
  if (status >= 200 && status < 300) return said ?? { verdict: 'clean', category: null, finding: '' }
  throw new RemoteFailure(`the scanner answered ${status}`)
}

function streamOf({ size, bytes }: Scanned): ReadableStream<Uint8Array> {
  const pieces = bytes()[Symbol.asyncIterator]()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      // A copy: the store reuses the memory of its pieces.
      else controller.enqueue(value.slice())
    },
    async cancel() {
      await pieces.return?.()
    },
  })
  const { FixedLengthStream } = globalThis as { FixedLengthStream?: FixedLength }
  return FixedLengthStream === undefined ? stream : stream.pipeThrough(new FixedLengthStream(size))
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let received = 0
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    received += piece.length
    // Leaving the loop ends the connection.
    if (received > ANSWER_MOST_BYTES) throw new RemoteFailure('the scanner said too much')
    text += decoder.decode(piece, { stream: true })
  }
  return text
}
