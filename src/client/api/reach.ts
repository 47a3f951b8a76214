import { UPLOAD_PATH } from '../../protocol.ts'
import type { SendOptions } from '../types.ts'
import { refusalOf } from './answers.ts'
import type { Endpoint } from './endpoint.ts'
import { withRetries } from './retry.ts'

/**
 * Asks whether anything answers where uploads would go. Rejects with `Unreachable`, with a `ServerRefusal` if the answer
 * leads elsewhere, or with the signal's reason. Any other answer is left to the upload to judge.
 */
export async function reach(
  { address, transport, clock }: Endpoint,
  { signal, retries = 0 }: Pick<SendOptions, 'signal' | 'retries'>,
): Promise<void> {
  const attempt = async () => {
    const answer = await transport({ method: 'HEAD', url: address(UPLOAD_PATH), signal })
    if (answer.status >= 300 && answer.status < 400) throw refusalOf(answer)
  }
  await withRetries(attempt, { retries, signal }, clock)
}
