/** Active alerts. The operator has been notified of each. */
import { batchesOf } from '../../async.ts'
import type { ActiveAlert, AlertLedger, Pause } from '../active-alerts.ts'
import { record } from './audit-log.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { raiseIf } from './notices.ts'
import { list, type Part, sql } from './statement.ts'

/** Day of the row that serializes `recordCapReached`. Later than any real day, so that the row is never cleaned up. */
const LOCKED_DAY = '9999-12-31'

export function alertsLedger(database: SqlDatabase): AlertLedger {
  function pauseIf(condition: Part, { reason, who, raises }: Pause, at: Date): Statement[] {
    const shouldPause = sql`${condition} and not exists (select 1 from settings where name = 'uploads' and value = 'paused')`
    const act = { act: 'set', subject: 'uploads=paused', reason, at, by: { who } } as const
    return [
      raiseIf(raises, at.getTime(), shouldPause),
      record(act, shouldPause),
      sql`insert into settings (name, value, changed_at_ms) select 'uploads', 'paused', ${at.getTime()} where ${shouldPause}
        on conflict (name) do update set value = excluded.value, changed_at_ms = excluded.changed_at_ms`,
    ]
  }

  return {
    async activeAlerts() {
      const rows = await database.read<ActiveAlert>(
        sql`select name, since_ms as since from active_alerts order by name`,
      )
      return rows.map((row) => ({ ...row }))
    },

    async raiseAlert(name, at, { raises, pause }) {
      const mark = crypto.randomUUID()
      const isFirst = sql`exists (select 1 from active_alerts where mark = ${mark})`
      const [inserted] = await database.write([
        sql`insert into active_alerts (name, since_ms, mark) values (${name}, ${at.getTime()}, ${mark})
          on conflict (name) do nothing`,
        ...(raises === null ? [] : [raiseIf(raises, at.getTime(), isFirst)]),
        ...(pause === null ? [] : pauseIf(isFirst, pause, at)),
      ])
      return inserted!.changes > 0
    },

    async resolveAlerts(names) {
      const batches = batchesOf([...names].sort(), database.dialect.maxParameters)
      const statements = batches.map((batch) => sql`delete from active_alerts where name in ${list(batch)}`)
      if (statements.length > 0) await database.write(statements)
    },

    async recordCapReached(name, day, since, at, { raises, pause }) {
      const mark = crypto.randomUUID()
      const isNew = sql`exists (select 1 from caps_reached where mark = ${mark})`
      const count = sql`(select count(*) from caps_reached where name <> '')`
      const isRepeated = sql`${isNew} and ${count} > 1`
      const isFirst = sql`${isNew} and ${count} = 1`
      const [, ...outcomes] = await database.write([
        // Lock: when two transactions record two caps, the second must see the first one's row.
        sql`insert into caps_reached (day, name) values (${LOCKED_DAY}, '')
          on conflict (day, name) do update set mark = excluded.mark`,
        sql`insert into caps_reached (day, name, mark) values (${day}, ${name}, ${mark})
          on conflict (day, name) do nothing`,
        sql`delete from caps_reached where day < ${since}`,
        raiseIf(raises, at.getTime(), isFirst),
        ...pauseIf(isRepeated, pause, at),
        sql`delete from caps_reached where ${isRepeated}`,
      ])
      if (outcomes[0]!.changes === 0) return null
      // The second to last statement writes the setting.
      return outcomes.at(-2)!.changes > 0 ? 'paused' : 'reached'
    },
  }
}
