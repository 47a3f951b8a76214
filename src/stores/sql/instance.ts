/** State shared by all servers on one ledger: facts, a clock, rate limits, settings, admin tokens. */
import { MAX_RETRY_AFTER_MS } from '../../async.ts'
import type { Ledger } from '../ledger.ts'
import { record } from './audit-log.ts'
import type { SqlDatabase } from './database.ts'
import { rawSql, sql } from './statement.ts'

/** Row that each check writes. Not a fact of the instance. */
const CHECK_ROW = '.checked'

export function instanceLedger(database: SqlDatabase) {
  const { clock } = database.dialect

  async function facts(): Promise<Record<string, string>> {
    const rows = await database.read<{ name: string; value: string }>(
      sql`select name, value from facts where name <> ${CHECK_ROW}`,
    )
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  }

  return {
    facts,

    async writeFacts(newFacts, { replace }) {
      const resolution = rawSql(replace ? 'update set value = excluded.value' : 'nothing')
      // Sorted, so that servers starting concurrently can't deadlock.
      const entries = Object.entries(newFacts).sort(([a], [b]) => (a < b ? -1 : 1))
      if (entries.length > 0) {
        await database.write(
          entries.map(
            ([name, value]) =>
              sql`insert into facts (name, value) values (${name}, ${value}) on conflict (name) do ${resolution}`,
          ),
        )
      }
      return facts()
    },

    async time() {
      if (clock === null) return null
      const [row] = await database.read<{ ms: number }>(sql`select ${rawSql(clock)} as ms`)
      return row!.ms
    },

    async takeTokens(name, now, { intervalMs, burst }, tokens = 1) {
      // Generic cell rate algorithm (ITU-T I.371): the only state is the time at which the bucket is full again.
      const [costMs, toleranceMs] = [tokens * intervalMs, (burst - tokens) * intervalMs]
      // No wait is that long: written by a clock that was ahead.
      const isImplausible = sql`turns.full_at_ms > ${now + burst * intervalMs + MAX_RETRY_AFTER_MS}`
      const [taken] = await database.write([
        sql`insert into turns (name, full_at_ms) values (${name}, ${now + costMs})
          on conflict (name) do update set full_at_ms = ${costMs} +
            case when turns.full_at_ms > ${now} and not (${isImplausible}) then turns.full_at_ms else ${now} end
          where turns.full_at_ms <= ${now + toleranceMs} or ${isImplausible}
          returning full_at_ms`,
      ])
      if (taken!.rows.length > 0) return 0
      const [row] = await database.read<{ full_at_ms: number }>(
        sql`select full_at_ms from turns where name = ${name}`,
      )
      return Math.max(1, (row?.full_at_ms ?? now) - toleranceMs - now)
    },

    async blockTokens(name, until, { intervalMs, burst }) {
      const fullAt = until + (burst - 1) * intervalMs
      await database.write([
        sql`insert into turns (name, full_at_ms) values (${name}, ${fullAt})
          on conflict (name) do update set full_at_ms = excluded.full_at_ms
          where turns.full_at_ms < excluded.full_at_ms`,
      ])
    },

    async check() {
      const now = `${Date.now()}`
      await database.write([
        sql`insert into facts (name, value) values (${CHECK_ROW}, ${now})
          on conflict (name) do update set value = excluded.value`,
      ])
    },
  } satisfies Partial<Ledger>
}

/** Settings that the operator changed at run time. */
export function settingsLedger(database: SqlDatabase) {
  return {
    async settings() {
      const rows = await database.read<{ name: string; value: string }>(sql`select name, value from settings`)
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
    },

    async changeSettings(changes, reason, at, by) {
      // Sorted, so that concurrent changes of the same settings can't deadlock.
      const names = Object.keys(changes).sort()
      if (names.length === 0) return
      await database.write(
        names.flatMap((name) => {
          const value = changes[name] ?? null
          return [
            value === null
              ? sql`delete from settings where name = ${name}`
              : sql`insert into settings (name, value, changed_at_ms) values (${name}, ${value}, ${at.getTime()})
                  on conflict (name) do update set value = excluded.value, changed_at_ms = excluded.changed_at_ms`,
            record({ act: 'set', subject: value === null ? name : `${name}=${value}`, reason, at, by }),
          ]
        }),
      )
    },
  } satisfies Partial<Ledger>
}

/** Tokens for the admin server, stored as SHA-256: reading the ledger grants no access. */
export function adminTokenLedger(database: SqlDatabase) {
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
  } satisfies Partial<Ledger>
}
