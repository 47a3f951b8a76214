/** What all uploads of a day may use together. Processes take shares of it, so that uploads contend for no row. */
import type { Ledger } from '../ledger.ts'
import type { PrivateTables } from './private.ts'
import { sql } from './statement.ts'

type SharesLedger = Pick<Ledger, 'takeShare' | 'returnShare' | 'usedShare'>

export function sharesLedger(tables: PrivateTables): SharesLedger {
  return {
    async takeShare(name, day, amount, limit) {
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

    async returnShare(name, day, amount) {
      const database = await tables.ifThere(day)
      await database?.write([
        sql`update shares set used = case when used > ${amount} then used - ${amount} else 0 end
          where day = ${day} and name = ${name}`,
      ])
    },

    async usedShare(name, day) {
      const database = await tables.ifThere(day)
      const found = await database?.read(sql`select used from shares where day = ${day} and name = ${name}`)
      return (found?.rows[0]?.used as number | undefined) ?? 0
    },
  }
}
