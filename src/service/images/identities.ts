/**
 * Ids and deletion keys: drawn, or derived from what a client names its upload by, so that a repeat gets the same ones.
 * Nothing is stored for that but one secret of the instance, in the ledger.
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
  /** Another request may ask for the same. */
  isDerived: boolean
}

/** Throws `Refusal` if the ledger can not be read. */
export type Derive = (idempotencyKey: string) => Promise<Identity>

/** The fact of the ledger that holds the secret: 32 random bytes, hex. */
const SECRET_FACT = 'identity-secret'

export function drawIdentity(): Identity {
  const id = newId()
  return { id, key: newKey(id), isDerived: false }
}

function newSecret(): Record<string, string> {
  return { [SECRET_FACT]: toHex(crypto.getRandomValues(new Uint8Array(32))) }
}

/**
 * No id that was derived before is derived again, by servers that start from now on. For a store that may not know which ids
 * are retired: it was restored, or is another one.
 */
export async function renewIdentities(ledger: Pick<Ledger, 'writeFacts'>): Promise<void> {
  await ledger.writeFacts(newSecret(), { replace: true })
}

/** The secret of the instance: the first process writes it, all others read it. Throws what the ledger throws. */
export function createSecret(ledger: Pick<Ledger, 'facts' | 'writeFacts'>): () => Promise<Uint8Array> {
  // Bytes, not a promise: on Workers a request that waits for another's waits for ever if that one is cut off.
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
    // Two, so that the id tells nothing of the key.
    const id = base62OfHex(hashes.hmacSha256(known, `id ${idempotencyKey}`), ID_LENGTH)
    const key = id + base62OfHex(hashes.hmacSha256(known, `key ${idempotencyKey}`), KEY_SECRET_LENGTH)
    return { id, key, isDerived: true }
  }
}
