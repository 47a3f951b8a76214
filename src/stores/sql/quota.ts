/** The day's quota and salts. */
import { fromHex } from '../../bytes.ts'
import type { Ledger, Refusals, ReservedWith } from '../ledger.ts'
import type { Row, Statement } from './database.ts'
import { checkedDay, LAST_DAY, type PrivateTables } from './private.ts'
import { releaseWith, reserveWith, tagStatement } from './reservation.ts'
import { sql } from './statement.ts'

type QuotaLedger = Pick<
  Ledger,
  | 'reserveUpload'
  | 'releaseUpload'
  | 'confirmUpload'
  | 'refusals'
  | 'usedUploads'
  | 'daySalt'
  | 'forgetDaysBefore'
>

const UNLIMITED: Refusals = { count: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

/** A day has few. */
const KNOWN_SALTS = 8

/** The table is called `places`, and its columns of reservations `held`: servers of 0.1.0 count in it too (docs/decisions/040). */
export function quotaLedger(tables: PrivateTables): QuotaLedger {
  // Every upload asks for the salts of the day. By their keys in the table.
  const known = new Map<string, Uint8Array>()

  async function release(bucket: string, day: string, refusedBytes?: number, more: ReservedWith = {}) {
    const [refusals, bytes] = refusedBytes === undefined ? [0, 0] : [1, refusedBytes]
    const ended = more.reservedAtMs === undefined ? 0 : 1
    const statement = sql`update places set used = case when used > 0 then used - 1 else 0 end,
        held = case when held > ${ended} then held - ${ended} else 0 end,
        refusals = refusals + ${refusals}, refused_bytes = refused_bytes + ${bytes}
      where day = ${checkedDay(day)} and bucket = ${bucket}`
    const database = await tables.ifThere(day)
    if (database === null) return
    await releaseWith(database, await tagsFor(more), statement, day, more)
  }

  async function tagsFor({ tags }: ReservedWith) {
    return tags === undefined ? null : tables.tagsAt(tags.atMs)
  }

  return {
    async reserveUpload(bucket, day, limit, budget = UNLIMITED, more = {}) {
      const [reserved, atMs] = more.reservedAtMs === undefined ? [0, 0] : [1, Math.floor(more.reservedAtMs)]
      const statement = sql`insert into places (day, bucket, used, held, held_at_ms)
          values (${checkedDay(day)}, ${bucket}, 1, ${reserved}, cast(${atMs} as bigint))
        on conflict (day, bucket) do update set used = places.used + 1,
          held = places.held + ${reserved},
          held_at_ms = case when ${reserved} = 1 then excluded.held_at_ms else places.held_at_ms end
          where places.used < ${limit}
          and places.refusals < ${budget.count} and places.refused_bytes < ${budget.bytes}
        returning used`
      // The insert asks for no limit.
      if (limit < 1 || budget.count < 1 || budget.bytes < 1) return null
      const database = await tables.ofDay(day)
      const tags = await tagsFor(more)
      const undo = (also: ReservedWith) =>
        release(bucket, day, undefined, { ...also, ...(reserved > 0 && { reservedAtMs: atMs }) })
      const { used, isNetworkFull } = await reserveWith(database, tags, statement, day, more)
      if (isNetworkFull) {
        await undo({})
        return 'network-full'
      }
      // Tags in another file share no transaction.
      if (used !== null && more.tags !== undefined && tags !== null && tags !== database) {
        await tags.write([tagStatement(more.tags)]).catch(async (error) => {
          await undo(more.network === undefined ? {} : { network: more.network })
          throw error
        })
      }
      return used
    },

    releaseUpload: release,

    async confirmUpload(bucket, day) {
      const database = await tables.ifThere(day)
      // Without a flush: the next reservation of the same client would wait for it.
      const isLazy = true
      const confirm = sql`update places set held = held - 1
        where day = ${checkedDay(day)} and bucket = ${bucket} and held > 0`
      await database?.write([confirm], isLazy)
    },

    async refusals(bucket, day) {
      const rows = await rowsOf(
        day,
        sql`select used, refusals, refused_bytes, held, held_at_ms from places
          where day = ${checkedDay(day)} and bucket = ${bucket}`,
      )
      const {
        used = 0,
        refusals = 0,
        refused_bytes: bytes = 0,
        held: reserved = 0,
        held_at_ms: reservedAtMs = 0,
      } = rows[0] ?? {}
      return {
        used: used as number,
        count: refusals as number,
        bytes: bytes as number,
        reserved: reserved as number,
        reservedAtMs: reservedAtMs as number,
      }
    },

    async usedUploads(bucket, day) {
      const rows = await rowsOf(
        day,
        sql`select used from places where day = ${checkedDay(day)} and bucket = ${bucket}`,
      )
      return (rows[0]?.used as number | undefined) ?? 0
    },

    async daySalt(day, purpose) {
      const key = purpose === undefined ? checkedDay(day) : `${checkedDay(day)} ${purpose}`
      let salt = known.get(key)
      if (salt === undefined) {
        salt = fromHex(await tables.salt(key))
        if (known.size >= KNOWN_SALTS) known.clear()
        known.set(key, salt)
      }
      return salt
    },

    async forgetDaysBefore(day, last = LAST_DAY) {
      checkedDay(last)
      for (const key of known.keys()) if (key < checkedDay(day) || key.slice(0, 10) > last) known.delete(key)
      await tables.forgetDays(checkedDay(day), last)
    },
  }

  /** None where nothing was written of the day. */
  async function rowsOf(day: string, statement: Statement): Promise<readonly Row[]> {
    const database = await tables.ifThere(day)
    return database === null ? [] : (await database.read(statement)).rows
  }
}
