/** Words for what goes wrong. */
import { Refusal, ServerRefusal, Unreachable } from '../../../client/errors.ts'
import { kindOf } from '../intake/file-kinds.ts'
import { facts, inWords, words } from './facts.ts'
import { quotaUsedUp } from './progress.ts'

/** The network's fault, or the server's: the same file may go through later. */
export function mayPass(error: unknown): boolean {
  // As a proxy answers for a server that is away.
  if (error instanceof ServerRefusal) return error.code === 'unavailable' && error.status >= 500
  // A script or a codec that could not be fetched is the network's fault, too.
  return error instanceof Unreachable || error instanceof TypeError
}

/** Why an upload failed, or, without a `file`, a deletion, in a sentence that helps. */
export async function reasonOf(error: unknown, file?: File, bytesOut?: number): Promise<string> {
  // Only uploads go on by themselves.
  if (mayPass(error)) return file ? words.unreachableYet : words.unreachable
  if (error instanceof ServerRefusal && error.code === 'quota-exceeded') {
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
  return words.unreadable
}
