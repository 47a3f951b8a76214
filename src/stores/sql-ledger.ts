/** The ledger over any database that runs the shared SQL. */
import type { Ledger } from './ledger.ts'
import type { SqlDatabase } from './sql-database.ts'
import { moderationLedger } from './sql-moderation.ts'
import { placesLedger } from './sql-places.ts'
import { purgesLedger } from './sql-purges.ts'
import { statement } from './sql-statement.ts'

export function sqlLedger(database: SqlDatabase): Ledger {
  const { queries } = database.flavour

  return {
    ...placesLedger(database),
    ...moderationLedger(database),
    ...purgesLedger(database),

    async counts() {
      const today = new Date().toISOString().slice(0, 10)
      const { rows } = await database.read(
        statement(
          queries.selectNoFrom(({ selectFrom }) => [
            selectFrom('places')
              .select(({ fn }) => fn.sum('used').as('sum'))
              .where('day', '=', today)
              .as('places'),
            selectFrom('removals')
              .select(({ fn }) => fn.countAll().as('count'))
              .as('removals'),
            selectFrom('blocks')
              .select(({ fn }) => fn.countAll().as('count'))
              .as('blocks'),
            selectFrom('purges')
              .select(({ fn }) => fn.countAll().as('count'))
              .as('purges'),
          ]),
        ),
      )
      const { places, removals, blocks, purges } = rows[0]!
      return {
        // A sum is null over no rows, and Postgres gives it as a numeric, in text.
        placesToday: Number(places ?? 0),
        removals: removals as number,
        blocks: blocks as number,
        purgesOwed: purges as number,
      }
    },

    async check() {
      await database.read(statement(queries.selectFrom('migrations').select('name')))
    },

    close: () => database.close(),
  }
}
