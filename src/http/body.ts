/** Bodies other than uploads: small, and read by the host's one reader like all others. */
import { Refusal } from '../errors.ts'
import type { AppContext } from './context.ts'

/** The forms of our pages hold a key, or less. Unit: bytes. */
export const FORM_MAX_BYTES = 1024

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** The fields of a form. Throws `Refusal` with `not-a-form` or `body-too-large`. */
export async function readForm(c: AppContext, limitBytes = FORM_MAX_BYTES): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(c.req.header('Content-Type') ?? '')) {
    throw new Refusal('not-a-form', 'Send the form as application/x-www-form-urlencoded.')
  }
  return new URLSearchParams(await readText(c, limitBytes))
}

/** The body as UTF-8. Throws `Refusal('body-too-large')`. */
export async function readText(c: AppContext, limitBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let received = 0
  for await (const piece of c.env.body) {
    received += piece.length
    if (received > limitBytes) {
      throw new Refusal(
        'body-too-large',
        `The body is larger than ${limitBytes} bytes, the limit for this address.`,
      )
    }
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}
