/** Digests of bytes that the operator blocked: uploads of them are refused. */
import type { Ledger } from '../ledger.ts'
import type { RecordEntry } from './audit-log.ts'
import type { SqlDatabase } from './database.ts'
import { sql } from './statement.ts'
import type { LeaveTombstones } from './tombstones.ts'

export function blocksLedger(
  database: SqlDatabase,
  record: RecordEntry,
  leave: LeaveTombstones,
): Pick<Ledger, 'block' | 'unblock'> {
  return {
    async block(sha256, reason, at, by) {
      // In one order: two that block the same digests must not wait for each other's rows.
      const digests = [...new Set(sha256)].sort()
      if (digests.length === 0) return
      await database.write([
        ...digests.flatMap((digest) => [
          sql`insert into blocks (sha256, blocked_at_ms) values (${digest}, ${at.getTime()})
            on conflict (sha256) do nothing`,
          record({ act: 'block', subject: digest, reason, at, by }),
        ]),
        ...leave(at.getTime(), ...digests.map((subject) => ({ act: 'block' as const, subject }))),
      ])
    },

    async unblock(sha256, reason, at, by) {
      const [gone] = await database.write([
        sql`delete from blocks where sha256 = ${sha256}`,
        record({ act: 'unblock', subject: sha256, reason, at, by }),
        ...leave(at.getTime(), { act: 'unblock', subject: sha256 }),
      ])
      return gone!.changes > 0
    },
  }
}
