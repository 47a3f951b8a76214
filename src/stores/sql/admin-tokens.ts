/** Who may use the admin server: tokens by their SHA-256, so that reading the ledger opens nothing. */
import type { Ledger } from '../ledger.ts'
import type { SqlDatabase } from './database.ts'
import { sql } from './statement.ts'

type DoorLedger = Pick<Ledger, 'putToken' | 'takeToken' | 'renewToken'>

export function adminTokenLedger(database: SqlDatabase): DoorLedger {
  return {
    async putToken({ sha256, kind, who, expiresAt, endsAt }, now) {
      await database.write([
        sql`delete from admin_tokens where expires_at_ms <= ${now}`,
        sql`insert into admin_tokens (sha256, kind, who, expires_at_ms, ends_at_ms)
          values (${sha256}, ${kind}, ${who}, ${expiresAt}, ${endsAt})`,
      ])
    },

    async takeToken(sha256, kind, now) {
      const [taken] = await database.write([
        sql`delete from admin_tokens where sha256 = ${sha256} and kind = ${kind} and expires_at_ms > ${now}
          returning who`,
      ])
      return (taken!.rows[0]?.who as string | undefined) ?? null
    },

    async renewToken(sha256, kind, now, expiresAt) {
      const [renewed] = await database.write([
        sql`update admin_tokens
          set expires_at_ms = case when ends_at_ms < ${expiresAt} then ends_at_ms else ${expiresAt} end
          where sha256 = ${sha256} and kind = ${kind} and expires_at_ms > ${now} returning who`,
      ])
      return (renewed!.rows[0]?.who as string | undefined) ?? null
    },
  }
}
