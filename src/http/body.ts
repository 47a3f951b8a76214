/** Reads small request bodies: everything except uploads. */
import { Refusal } from '../errors.ts'
import type { AppContext } from './context.ts'

/** Default limit: the forms on our pages carry at most a deletion key. Unit: bytes. */
const FORM_MAX_BYTES = 1024

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** Parses a URL-encoded form. Throws `Refusal` with `not-a-form` or `body-too-large`. */
export async function readForm(c: AppContext, limitBytes = FORM_MAX_BYTES): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(c.req.header('Content-Type') ?? '')) {
    throw new Refusal('not-a-form', 'Send the form as application/x-www-form-urlencoded.')
  }
  return new URLSearchParams(await readText(c, limitBytes))
}

/** Reads the body as UTF-8 text. Throws `Refusal('body-too-large')`. */
export async function readText(c: AppContext, limitBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let received = 0
  for await (const chunk of c.env.body) {
    received += chunk.length
    if (received > limitBytes) {
      throw new Refusal(
        'body-too-large',
        `The request body exceeds the limit of ${limitBytes} bytes for this endpoint.`,
      )
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
