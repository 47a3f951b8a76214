import { DELETE_PATH, KEY_PATTERN } from '../../protocol.ts'
import type { SendOptions } from '../types.ts'
import { objectOf, refusalOf, rejectAnswer } from './answers.ts'
import { type Endpoint, endpointOf } from './endpoint.ts'
import { withRetries } from './retry.ts'

export type RemoveOptions = Pick<SendOptions, 'baseUrl' | 'signal' | 'retries'>

/**
 * Permanently deletes an image. `key` is its deletion key or its delete address. Takes the options `baseUrl`, `signal` and
 * `retries` of `send`; a delete address needs no `baseUrl`. Rejects with a `ServerRefusal` or `Unreachable`.
 */
export async function remove(key: string, options?: RemoveOptions): Promise<void> {
  const address = URL.canParse(key) ? new URL(key) : null
  const bareKey = address?.searchParams.get('key') ?? key
  if (!KEY_PATTERN.test(bareKey)) throw new TypeError('key is neither a deletion key nor a delete address')
  const service = address === null ? undefined : address.origin + address.pathname.replace(DELETE_PATH, '')
  return removeFrom(bareKey, options ?? {}, endpointOf(options?.baseUrl ?? service))
}

export async function removeFrom(
  key: string,
  { signal, retries }: RemoveOptions,
  { transport, clock, address }: Endpoint,
): Promise<void> {
  const url = `${address(DELETE_PATH)}?key=${key}`
  const attempt = async (number: number) => {
    const answer = await transport({ method: 'DELETE', url, signal })
    if (answer.status === 200 && objectOf(answer).success === true) return
    // An earlier attempt may have deleted the image, and its response been lost.
    if (number > 1 && refusalOf(answer).code === 'unknown-key') return
    rejectAnswer(answer)
  }
  await withRetries(attempt, { retries, signal }, clock)
}
