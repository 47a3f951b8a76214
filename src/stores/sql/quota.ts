/** The day's quota and salts. */
import { fromHex, toHex } from '../../bytes.ts'
import type { Ledger, Refusals, ReservedWith } from '../ledger.ts'
import type { SqlDatabase } from './database.ts'
import { releaseWith, reserveWith } from './reservation.ts'
import { list, rawSql, sql } from './statement.ts'

/** The table is called `places`: what each bucket has used of each day. */
type QuotaLedger = Pick<
  Ledger,
  | 'reserveUpload'
  | 'releaseUpload'
  | 'settleUploads'
  | 'refusals'
  | 'usedUploads'
  | 'daySalt'
  | 'forgetDaysBefore'
>

const UNLIMITED: Refusals = { count: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

const SALT_BYTES = 32

/** A day has few. */
const KNOWN_SALTS = 8

/** Rows of one transaction: a million in one held up SQLite, and its process, for 2.5 s. */
const FORGOTTEN_AT_ONCE = 500

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

export function quotaLedger(database: SqlDatabase): QuotaLedger {
  // Every upload asks for the salts of the day. By their keys in the table.
  const known = new Map<string, string>()

  async function release(bucket: string, day: string, refusedBytes?: number, more: ReservedWith = {}) {
    const [refusals, bytes] = refusedBytes === undefined ? [0, 0] : [1, refusedBytes]
    const noMore = more.held === undefined ? 0 : more.held.settled + 1
    const statement = sql`update places set used = case when used > 0 then used - 1 else 0 end,
        held = case when held > ${noMore} then held - ${noMore} else 0 end, refusals = refusals + ${refusals}, refused_bytes = refused_bytes + ${bytes}
      where day = ${checkedDay(day)} and bucket = ${bucket}`
    await releaseWith(database, statement, day, more)
  }

  return {
    async reserveUpload(bucket, day, limit, budget = UNLIMITED, more = {}) {
      const [held, atMs] = more.held === undefined ? [0, 0] : [1, Math.floor(more.held.atMs)]
      const settled = more.held?.settled ?? 0
      const statement = sql`insert into places (day, bucket, used, held, held_at_ms)
          values (${checkedDay(day)}, ${bucket}, 1, ${held}, cast(${atMs} as bigint))
        on conflict (day, bucket) do update set used = places.used + 1,
          held = ${held} + case when places.held > ${settled} then places.held - ${settled} else 0 end,
          held_at_ms = case when ${held} = 1 then excluded.held_at_ms else places.held_at_ms end
          where places.used < ${limit}
          and places.refusals < ${budget.count} and places.refused_bytes < ${budget.bytes}
        returning used`
      // The insert asks for no limit.
      if (limit < 1 || budget.count < 1 || budget.bytes < 1) return null
      const { used, isNetworkFull } = await reserveWith(database, statement, day, more)
      if (!isNetworkFull) return used
      await release(
        bucket,
        day,
        undefined,
        more.held === undefined ? {} : { held: { ...more.held, settled: 0 } },
      )
      return 'network-full'
    },

    releaseUpload: release,

    async settleUploads(buckets, day, count) {
      if (buckets.length === 0) return
      // In one order: two processes that wait for each other's rows would wait for ever.
      const order = rawSql(database.flavour.skipsLocked ? 'order by bucket for update' : '')
      await database.write([
        sql`with due as materialized (select bucket from places
            where day = ${checkedDay(day)} and bucket in ${list(buckets)} ${order})
          update places set held = case when held > ${count} then held - ${count} else 0 end
          from due where places.day = ${day} and places.bucket = due.bucket`,
      ])
    },

    async refusals(bucket, day) {
      const { rows } = await database.read(
        sql`select refusals, refused_bytes, held, held_at_ms from places
          where day = ${checkedDay(day)} and bucket = ${bucket}`,
      )
      const { refusals = 0, refused_bytes: bytes = 0, held = 0, held_at_ms: heldAtMs = 0 } = rows[0] ?? {}
      return {
        count: refusals as number,
        bytes: bytes as number,
        held: held as number,
        heldAtMs: heldAtMs as number,
      }
    },

    async usedUploads(bucket, day) {
      const { rows } = await database.read(
        sql`select used from places where day = ${checkedDay(day)} and bucket = ${bucket}`,
      )
      return (rows[0]?.used as number | undefined) ?? 0
    },

    async daySalt(day, purpose) {
      const key = purpose === undefined ? checkedDay(day) : `${checkedDay(day)} ${purpose}`
      let salt = known.get(key)
      if (salt === undefined) {
        const found = await database.read(sql`select salt from salts where day = ${key}`)
        const rows = found.rows.length > 0 ? found.rows : await createSalt(key)
        salt = rows[0]!.salt as string
        if (known.size >= KNOWN_SALTS) known.clear()
        known.set(key, salt)
      }
      return fromHex(salt)
    },

    async forgetDaysBefore(day) {
      checkedDay(day)
      for (const key of known.keys()) if (key < day) known.delete(key)
      // Without its salt a bucket says nothing any more.
      await database.write([
        sql`delete from salts where day < ${day}`,
        sql`delete from shares where day < ${day}`,
        sql`delete from report_budgets where day < ${day}`,
      ])
      let forgotten: number
      do {
        const [outcome] = await database.write([
          sql`delete from places where (day, bucket) in
            (select day, bucket from places where day < ${day} limit ${FORGOTTEN_AT_ONCE})`,
        ])
        forgotten = outcome!.changes
      } while (forgotten === FORGOTTEN_AT_ONCE)
      await database.wipe()
    },
  }

  async function createSalt(day: string) {
    const random = toHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)))
    // "do nothing" would return no row to whoever comes second.
    const [made] = await database.write([
      sql`insert into salts (day, salt) values (${day}, ${random})
        on conflict (day) do update set salt = salts.salt returning salt`,
    ])
    return made!.rows
  }
}

/** Days are compared as text. */
function checkedDay(day: string): string {
  if (!DAY_PATTERN.test(day)) throw new RangeError('a day is written YYYY-MM-DD')
  return day
}
