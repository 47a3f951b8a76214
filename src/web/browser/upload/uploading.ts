/** What is fetched when the first picture is chosen: the client, and words for what goes wrong. */
import { configure } from '../../../client/browser.ts'
import { Refusal, ServerRefusal, Unreachable } from '../../../client/errors.ts'
import { kindOf } from '../intake/file-kinds.ts'
import { facts, inWords, words } from './facts.ts'
import { quotaUsedUp } from './progress.ts'

export { compress, send } from '../../../client/browser.ts'

// Without workers a picture still goes up, and its card says that it was not made smaller.
configure({ withoutWorker: 'scrub' })

/** Why something failed, in a sentence that helps. */
export async function reasonOf(error: unknown, file?: File, bytesOut?: number): Promise<string> {
  if (error instanceof Unreachable) return words.unreachable
  if (error instanceof ServerRefusal && error.code === 'quota-exceeded' && error.retryAfterSeconds) {
    return quotaUsedUp(error.retryAfterSeconds)
  }
  if (error instanceof Refusal) {
    const limit = inWords.limit()
    if (error.code === 'unsupported-type' && file) return words.kinds[await kindOf(file)]
    if (error.code === 'file-too-large' && bytesOut) {
      return inWords.fill(words.tooLarge, { size: inWords.bytes(bytesOut), limit })
    }
    return inWords.fill(facts.refusals[error.code] ?? error.detail, { limit })
  }
  // A script or a codec that could not be fetched is the network's fault, too.
  return error instanceof TypeError ? words.unreachable : words.unreadable
}
