/** The day's quota and salts. */
import type { Ledger } from './ledger.ts'
import type { SqlDatabase } from './sql-database.ts'
import { template } from './sql-statement.ts'

type PlacesLedger = Pick<
  Ledger,
  'reservePlace' | 'releasePlace' | 'usedPlaces' | 'daySalt' | 'forgetDaysBefore'
>

const SALT_BYTES = 32

/** Rows of one transaction: a million in one held up SQLite, and its process, for 2.5 s. */
const FORGOTTEN_AT_ONCE = 500

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

interface Place {
  bucket: string
  day: string
}

export function placesLedger(database: SqlDatabase): PlacesLedger {
  const { queries } = database.flavour

  const reserve = template<Place & { limit: number }>(({ bucket, day, limit }) =>
    queries
      .insertInto('places')
      .values({ day, bucket, used: 1 })
      .onConflict((conflict) =>
        conflict
          .columns(['day', 'bucket'])
          .doUpdateSet((row) => ({ used: row('places.used', '+', 1) }))
          .where('places.used', '<', limit),
      )
      .returning('used'),
  )

  const release = template<Place>(({ bucket, day }) =>
    queries
      .updateTable('places')
      .set((row) => ({ used: row('used', '-', 1) }))
      .where('day', '=', day)
      .where('bucket', '=', bucket)
      .where('used', '>', 0),
  )

  const used = template<Place>(({ bucket, day }) =>
    queries.selectFrom('places').select('used').where('day', '=', day).where('bucket', '=', bucket),
  )

  const salt = template<{ day: string }>(({ day }) =>
    queries.selectFrom('salts').select('salt').where('day', '=', day),
  )

  // "do nothing" would return no row to whoever comes second.
  const makeSalt = template<{ day: string; salt: string }>(({ day, salt }) =>
    queries
      .insertInto('salts')
      .values({ day, salt })
      .onConflict((conflict) =>
        conflict.column('day').doUpdateSet((row) => ({ salt: row.ref('salts.salt') })),
      )
      .returning('salt'),
  )

  const forgetSomePlaces = template<{ day: string; limit: number }>(({ day, limit }) =>
    queries
      .deleteFrom('places')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('day', 'bucket'),
          'in',
          selectFrom('places')
            .select(['day', 'bucket'])
            .where('day', '<', day)
            .limit(limit)
            .$asTuple('day', 'bucket'),
        ),
      ),
  )

  const forgetSalts = template<{ day: string }>(({ day }) =>
    queries.deleteFrom('salts').where('day', '<', day),
  )

  // Every upload asks for the salt of the day.
  let known: { day: string; salt: string } | undefined

  return {
    async reservePlace(bucket, day, limit) {
      const statement = reserve({ bucket, day: checkedDay(day), limit })
      // The insert asks for no limit.
      if (limit < 1) return null
      const [outcome] = await database.write([statement])
      return (outcome?.rows[0]?.used as number | undefined) ?? null
    },

    async releasePlace(bucket, day) {
      await database.write([release({ bucket, day: checkedDay(day) })])
    },

    async usedPlaces(bucket, day) {
      const { rows } = await database.read(used({ bucket, day: checkedDay(day) }))
      return (rows[0]?.used as number | undefined) ?? 0
    },

    async daySalt(day) {
      if (known?.day !== day) {
        const found = await database.read(salt({ day: checkedDay(day) }))
        const rows = found.rows.length > 0 ? found.rows : await createSalt(day)
        known = { day, salt: rows[0]!.salt as string }
      }
      return fromHex(known.salt)
    },

    async forgetDaysBefore(day) {
      checkedDay(day)
      if (known && known.day < day) known = undefined
      // Without its salt a bucket says nothing any more.
      await database.write([forgetSalts({ day })])
      let forgotten: number
      do {
        const [outcome] = await database.write([forgetSomePlaces({ day, limit: FORGOTTEN_AT_ONCE })])
        forgotten = outcome!.changes
      } while (forgotten === FORGOTTEN_AT_ONCE)
      await database.wipe()
    },
  }

  async function createSalt(day: string) {
    const random = toHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)))
    const [made] = await database.write([makeSalt({ day, salt: random })])
    return made!.rows
  }
}

/** Days are compared as text. */
function checkedDay(day: string): string {
  if (!DAY_PATTERN.test(day)) throw new RangeError('a day is written YYYY-MM-DD')
  return day
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16),
  )
}
