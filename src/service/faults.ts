/** Maps storage faults to client-facing errors. */
import { Refusal } from '../errors.ts'
import { LedgerFull, LedgerUnavailable } from '../stores/ledger.ts'
import { IdTaken, StoreFull, StoreUnavailable } from '../stores/object-store.ts'

/** Converts a fault of the store or ledger to a `Refusal` with the fault as its cause; rethrows anything else. */
export function refuseFault(error: unknown): never {
  if (error instanceof StoreFull || error instanceof LedgerFull) {
    throw new Refusal('storage-full', 'The server has no room left for images. Nothing was stored.', {
      cause: error,
    })
  }
  if (error instanceof StoreUnavailable || error instanceof LedgerUnavailable || error instanceof IdTaken) {
    throw new Refusal(
      'unavailable',
      'The server cannot reach its storage right now. Please try again soon.',
      {
        cause: error,
      },
    )
  }
  throw error
}
