/** Settings that the operator changed while servers run. */
import type { Ledger } from '../ledger.ts'
import type { RecordEntry } from './audit-log.ts'
import type { SqlDatabase } from './database.ts'
import { sql } from './statement.ts'

type SettingsLedger = Pick<Ledger, 'settings' | 'changeSettings'>

export function settingsLedger(database: SqlDatabase, record: RecordEntry): SettingsLedger {
  return {
    async settings() {
      const { rows } = await database.read(sql`select name, value from settings`)
      return Object.fromEntries(rows.map(({ name, value }) => [name as string, value as string]))
    },

    async changeSettings(changes, reason, at, by) {
      // In one order: two that change the same settings must not wait for each other's rows.
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
  }
}
