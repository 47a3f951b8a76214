/**
 * Stores salts as small objects in a separate bucket, for `stores/d1/private.ts`. R2 keeps no history, so a deleted salt is
 * really gone.
 */
import { LedgerUnavailable } from '../ledger.ts'
import type { R2Bucket } from './binding.ts'
import { openBucket } from './bucket.ts'

const SALT = /^[0-9a-f]{64}$/

const PREFIX = 'salt-'

export function r2Salts(binding: R2Bucket, prefix = '') {
  const bucket = openBucket(binding)
  const start = prefix + PREFIX
  // A key is a day, or a day, a space and a purpose. Object names have a dot instead of the space.
  const nameOf = (key: string) => start + key.replace(' ', '.')
  const keyOf = (name: string) => name.slice(start.length).replace('.', ' ')

  async function read(name: string): Promise<string | null> {
    const object = await bucket.get(name)
    if (object === null) return null
    const salt = new TextDecoder().decode(await object.arrayBuffer())
    if (!SALT.test(salt)) throw new Error(`${name} is damaged`)
    return salt
  }

  async function keep(key: string, salt: string): Promise<string> {
    const name = nameOf(key)
    for (;;) {
      const existing = await read(name)
      if (existing !== null) return existing
      // Of several concurrent puts, one succeeds.
      await bucket.put({
        key: name,
        send: (put) => put(new TextEncoder().encode(salt)),
        onlyIf: { etagDoesNotMatch: '*' },
      })
    }
  }

  async function forget(isExpired: (key: string) => boolean): Promise<void> {
    for await (const { key } of bucket.list(start)) if (isExpired(keyOf(key))) await bucket.delete(key)
  }

  return {
    keep: (key: string, salt: string) => keep(key, salt).catch(ledgerFault),
    forget: (isExpired: (key: string) => boolean) => forget(isExpired).catch(ledgerFault),
  }
}

/** The ledger can't work without its salts. */
function ledgerFault(cause: unknown): never {
  throw new LedgerUnavailable({ cause })
}
