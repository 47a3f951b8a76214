/**
 * IDs and deletion keys: random, or derived from the client's `Idempotency-Key`, so that a retry gets the same ones. The only
 * thing stored for that is one secret of the instance, in the ledger.
 */
import { fromHex, toHex } from '../../bytes.ts'
import { ID_LENGTH } from '../../protocol.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { refuseFault } from '../faults.ts'
import type { Hashes } from '../hashes.ts'
import { base62OfHex, KEY_SECRET_LENGTH, newId, newKey } from './ids.ts'

export interface Identity {
  id: string
  key: string
  /** Derived from an `Idempotency-Key`: other requests may have the same identity. */
  isDerived: boolean
}

/** Throws `Refusal` if the ledger cannot be read. */
export type Derive = (idempotencyKey: string) => Promise<Identity>

/** Ledger fact with the secret: 32 random bytes, hex. */
const SECRET_FACT = 'identity-secret'

export function randomIdentity(): Identity {
  const id = newId()
  return { id, key: newKey(id), isDerived: false }
}

function newSecret(): Record<string, string> {
  return { [SECRET_FACT]: toHex(crypto.getRandomValues(new Uint8Array(32))) }
}

/**
 * Replaces the secret, so that servers started from now on never derive an earlier ID again. For a store that may not know
 * which IDs are retired, because it was restored or replaced.
 */
export async function renewIdentities(ledger: Pick<Ledger, 'writeFacts'>): Promise<void> {
  await ledger.writeFacts(newSecret(), { replace: true })
}

/** The instance's secret: the first process writes it, all others read it. Throws whatever the ledger throws. */
export function createSecret(ledger: Pick<Ledger, 'facts' | 'writeFacts'>): () => Promise<Uint8Array> {
  // Caches bytes, not a promise: on Workers, a request that awaits another request's promise hangs if that one is cancelled.
  let secret: Uint8Array | undefined

  async function loadSecret(): Promise<Uint8Array> {
    const facts = await ledger.facts()
    const { [SECRET_FACT]: text = '' } =
      facts[SECRET_FACT] === undefined ? await ledger.writeFacts(newSecret(), { replace: false }) : facts
    if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`the ledger’s ${SECRET_FACT} is damaged`)
    return fromHex(text)
  }

  return async () => {
    secret ??= await loadSecret()
    return secret
  }
}

export function createDerive(ledger: Pick<Ledger, 'facts' | 'writeFacts'>, hashes: Hashes): Derive {
  const secret = createSecret(ledger)

  return async (idempotencyKey) => {
    const known = await secret().catch(refuseFault)
    // Two separate HMACs, so that the ID reveals nothing about the key.
    const id = base62OfHex(hashes.hmacSha256(known, `id ${idempotencyKey}`), ID_LENGTH)
    const key = id + base62OfHex(hashes.hmacSha256(known, `key ${idempotencyKey}`), KEY_SECRET_LENGTH)
    return { id, key, isDerived: true }
  }
}
