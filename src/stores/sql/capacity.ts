/** What is counted of a day's caps. The table is called `shares`: servers of 0.1.0 count in it too (docs/decisions/040). */
import type { Ledger } from '../ledger.ts'
import type { PrivateTables } from './private.ts'
import { sql } from './statement.ts'

export function capacityLedger(
  tables: PrivateTables,
): Pick<Ledger, 'takeCapacity' | 'releaseCapacity' | 'usedCapacity'> {
  return {
    async takeCapacity(name, day, amount, limit) {
      // The insert asks for no limit.
      if (amount > limit) return false
      const database = await tables.ofDay(day)
      const [taken] = await database.write([
        sql`insert into shares (day, name, used) values (${day}, ${name}, ${amount})
          on conflict (day, name) do update set used = shares.used + ${amount}
          where shares.used + ${amount} <= ${limit}`,
      ])
      return taken!.changes > 0
    },

    async releaseCapacity(name, day, amount) {
      const database = await tables.ifThere(day)
      await database?.write([
        sql`update shares set used = case when used > ${amount} then used - ${amount} else 0 end
          where day = ${day} and name = ${name}`,
      ])
    },

    async usedCapacity(name, day) {
      const database = await tables.ifThere(day)
      const found = await database?.read(sql`select used from shares where day = ${day} and name = ${name}`)
      return (found?.rows[0]?.used as number | undefined) ?? 0
    },
  }
}
