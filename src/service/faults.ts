/** What the client hears of faults that are not its own. */
import { Refusal } from '../errors.ts'
import { LedgerFull, LedgerUnavailable } from '../stores/ledger.ts'
import { IdTaken, StoreFull, StoreUnavailable } from '../stores/object-store.ts'

/** Turns a store's or the ledger's own fault into a refusal with the fault as its cause; throws all else on. */
export function refuseFault(error: unknown): never {
  if (error instanceof StoreFull || error instanceof LedgerFull) {
    throw new Refusal('storage-full', 'The server has no room left for images. Nothing was stored.', {
      cause: error,
    })
  }
  if (error instanceof StoreUnavailable || error instanceof LedgerUnavailable || error instanceof IdTaken) {
    throw new Refusal('unavailable', 'The server cannot reach its storage now. Please try again soon.', {
      cause: error,
    })
  }
  throw error
}
