/** What all servers on one ledger share: facts about the instance, a clock, turns of what may not be asked often. */
import type { Ledger } from '../ledger.ts'
import type { SqlDatabase } from './database.ts'
import { rawSql, sql } from './statement.ts'

type InstanceLedger = Pick<Ledger, 'facts' | 'writeFacts' | 'time' | 'takeTurn' | 'holdTurns' | 'check'>

/** Written by each check, and no fact of the instance. */
const CHECKED = '.checked'

export function instanceLedger(database: SqlDatabase): InstanceLedger {
  const { clock } = database.dialect

  async function facts(): Promise<Record<string, string>> {
    const { rows } = await database.read(sql`select name, value from facts where name <> ${CHECKED}`)
    return Object.fromEntries(rows.map(({ name, value }) => [name, value as string]))
  }

  return {
    facts,

    async writeFacts(given, { replace }) {
      const resolution = rawSql(replace ? 'update set value = excluded.value' : 'nothing')
      // In one order: two servers that start at once must not wait for each other's rows.
      const entries = Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))
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
      const { rows } = await database.read(sql`select ${rawSql(clock)} as ms`)
      return rows[0]!.ms as number
    },

    async takeTurn(name, now, { intervalMs, burst }, turns = 1) {
      // The generic cell rate algorithm (ITU-T I.371): one time says it all, the one at which a full burst is free.
      const [all, ahead] = [turns * intervalMs, (burst - turns) * intervalMs]
      const [taken] = await database.write([
        sql`insert into turns (name, full_at_ms) values (${name}, ${now + all})
          on conflict (name) do update set full_at_ms = ${all} +
            case when turns.full_at_ms > ${now} then turns.full_at_ms else ${now} end
          where turns.full_at_ms <= ${now + ahead}
          returning full_at_ms`,
      ])
      if (taken!.rows.length > 0) return 0
      const { rows } = await database.read(sql`select full_at_ms from turns where name = ${name}`)
      return Math.max(1, ((rows[0]?.full_at_ms as number | undefined) ?? now) - ahead - now)
    },

    async holdTurns(name, until, { intervalMs, burst }) {
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
        sql`insert into facts (name, value) values (${CHECKED}, ${now})
          on conflict (name) do update set value = excluded.value`,
      ])
    },
  }
}
