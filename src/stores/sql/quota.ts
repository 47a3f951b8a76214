/** Daily quotas, salts and caps. */
import { fromHex } from '../../bytes.ts'
import type { Ledger, Refusals, ReservationExtras } from '../ledger.ts'
import type { UploaderTags } from '../uploader-tags.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { checkedDay, LAST_DAY, type PrivateTables } from './private.ts'
import { joined, type Part, rawSql, sql } from './statement.ts'

const UNLIMITED: Refusals = { count: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

/** A day has only a few salts. */
const MAX_CACHED_SALTS = 8

type UsageRow = Record<'used' | 'refusals' | 'refused_bytes' | 'held' | 'held_at_ms', number>

/** The table is called `places`, and counts reservations in `held`: servers of 0.1.0 also use it (docs/decisions/040). */
export function quotaLedger(tables: PrivateTables) {
  // Every upload needs the day's salts. Keyed as in the table.
  const saltCache = new Map<string, Uint8Array>()

  async function release(bucket: string, day: string, refusedBytes?: number, extras: ReservationExtras = {}) {
    const [refusals, bytes] = refusedBytes === undefined ? [0, 0] : [1, refusedBytes]
    const released = extras.reservedAtMs === undefined ? 0 : 1
    const statement = sql`update places set used = case when used > 0 then used - 1 else 0 end,
        held = case when held > ${released} then held - ${released} else 0 end,
        refusals = refusals + ${refusals}, refused_bytes = refused_bytes + ${bytes}
      where day = ${checkedDay(day)} and bucket = ${bucket}`
    const database = await tables.existingUsageOf(day)
    if (database === null) return
    await releaseWith(database, await tagDatabaseFor(extras), statement, day, extras)
  }

  async function tagDatabaseFor({ tags }: ReservationExtras) {
    return tags === undefined ? null : tables.tagsAt(tags.atMs)
  }

  return {
    async reserveUpload(bucket, day, limit, budget = UNLIMITED, extras = {}) {
      const [reserved, atMs] =
        extras.reservedAtMs === undefined ? [0, 0] : [1, Math.floor(extras.reservedAtMs)]
      const statement = sql`insert into places (day, bucket, used, held, held_at_ms)
          values (${checkedDay(day)}, ${bucket}, 1, ${reserved}, cast(${atMs} as bigint))
        on conflict (day, bucket) do update set used = places.used + 1,
          held = places.held + ${reserved},
          held_at_ms = case when ${reserved} = 1 then excluded.held_at_ms else places.held_at_ms end
          where places.used < ${limit}
          and places.refusals < ${budget.count} and places.refused_bytes < ${budget.bytes}
        returning used`
      // The insert itself does not check the limits.
      if (limit < 1 || budget.count < 1 || budget.bytes < 1) return null
      const database = await tables.usageOf(day)
      const tagDatabase = await tagDatabaseFor(extras)
      const undo = (reservedWith: ReservationExtras) =>
        release(bucket, day, undefined, { ...reservedWith, ...(reserved > 0 && { reservedAtMs: atMs }) })
      const { used, isNetworkFull } = await reserveWith(database, tagDatabase, statement, day, extras)
      if (isNetworkFull) {
        await undo({})
        return 'network-full'
      }
      // Tags in a separate file can't be written in the same transaction.
      if (used !== null && extras.tags !== undefined && tagDatabase !== null && tagDatabase !== database) {
        await tagDatabase.write([insertTags(extras.tags)]).catch(async (error) => {
          await undo(extras.network === undefined ? {} : { network: extras.network })
          throw error
        })
      }
      return used
    },

    releaseUpload: release,

    async confirmUpload(bucket, day) {
      const database = await tables.existingUsageOf(day)
      // No flush: the next reservation of the same client would wait for it.
      const isLazy = true
      const confirm = sql`update places set held = held - 1
        where day = ${checkedDay(day)} and bucket = ${bucket} and held > 0`
      await database?.write([confirm], isLazy)
    },

    refusals,
    usedUploads: async (bucket, day) => (await refusals(bucket, day)).used,

    async daySalt(day, purpose?: 'links') {
      const key = purpose === undefined ? checkedDay(day) : `${checkedDay(day)} ${purpose}`
      let salt = saltCache.get(key)
      if (salt === undefined) {
        salt = fromHex(await tables.salt(key))
        if (saltCache.size >= MAX_CACHED_SALTS) saltCache.clear()
        saltCache.set(key, salt)
      }
      return salt
    },

    async eraseDaysBefore(day, last = LAST_DAY) {
      checkedDay(last)
      for (const key of saltCache.keys())
        if (key < checkedDay(day) || key.slice(0, 10) > last) saltCache.delete(key)
      await tables.forgetDays(checkedDay(day), last)
    },
  } satisfies Partial<Ledger>

  async function refusals(bucket: string, day: string) {
    const statement = sql`select used, refusals, refused_bytes, held, held_at_ms from places
      where day = ${checkedDay(day)} and bucket = ${bucket}`
    const database = await tables.existingUsageOf(day)
    const row = (await database?.read<UsageRow>(statement))?.[0]
    return {
      used: row?.used ?? 0,
      count: row?.refusals ?? 0,
      bytes: row?.refused_bytes ?? 0,
      reserved: row?.held ?? 0,
      reservedAtMs: row?.held_at_ms ?? 0,
    }
  }
}

/** Daily caps. The table is called `shares`: servers of 0.1.0 also use it (docs/decisions/040). */
export function capacityLedger(tables: PrivateTables) {
  return {
    async takeCapacity(name, day, amount, limit) {
      // The insert itself does not check the limit.
      if (amount > limit) return false
      const database = await tables.usageOf(day)
      const [taken] = await database.write([
        sql`insert into shares (day, name, used) values (${day}, ${name}, ${amount})
          on conflict (day, name) do update set used = shares.used + ${amount}
          where shares.used + ${amount} <= ${limit}`,
      ])
      return taken!.changes > 0
    },

    async releaseCapacity(name, day, amount) {
      const database = await tables.existingUsageOf(day)
      await database?.write([
        sql`update shares set used = case when used > ${amount} then used - ${amount} else 0 end
          where day = ${day} and name = ${name}`,
      ])
    },

    async usedCapacity(name, day) {
      const database = await tables.existingUsageOf(day)
      const rows = await database?.read<{ used: number }>(
        sql`select used from shares where day = ${day} and name = ${name}`,
      )
      return rows?.[0]?.used ?? 0
    },
  } satisfies Partial<Ledger>
}

// Network quota and tags are written in the reservation's own statement or transaction: no upload waits for another round trip
// or flush.

interface Reservation {
  /** Uploads by the address on that day. `null` if it has none left. */
  used: number | null
  isNetworkFull: boolean
}

/**
 * `reserve`: statement for the address, returning `used`. If it returns no row, nothing else is written. Tags are written here
 * only if `tagDatabase` is `database`.
 */
async function reserveWith(
  database: SqlDatabase,
  tagDatabase: SqlDatabase | null,
  reserve: Statement,
  day: string,
  { network, tags }: ReservationExtras,
): Promise<Reservation> {
  const { isPostgres } = database.dialect
  const from = (name: string) => rawSql(isPostgres ? `from ${name} where true` : 'where changes() > 0')
  const inNetwork =
    network &&
    sql`insert into shares (day, name, used) select ${day}, ${network.bucket}, 1 ${from('reserved')}
      on conflict (day, name) do update set used = shares.used + 1 where shares.used < ${network.limit}
      returning used`
  const withTags =
    tags && tagDatabase === database ? insertTags(tags, from(network ? 'shared' : 'reserved')) : undefined
  const statements = [reserve, inNetwork, withTags].filter((statement) => statement !== undefined)
  if (!isPostgres || statements.length === 1) {
    const [reserved, shared] = await database.write(statements)
    const used = (reserved!.rows[0]?.used as number | undefined) ?? null
    return { used, isNetworkFull: used !== null && network !== undefined && shared!.rows.length === 0 }
  }
  const [outcome] = await database.write([
    joined(
      {
        reserved: reserve,
        ...(inNetwork && { shared: inNetwork }),
        ...(withTags && { tagged: withTags }),
      },
      sql`select (select used from reserved) as used, ${rawSql(network ? '(select used from shared)' : '0')} as network`,
    ),
  ])
  const { used, network: shared } = outcome!.rows[0]!
  return { used: used as number | null, isNetworkFull: used !== null && shared === null }
}

/** `release`: statement for the address. */
async function releaseWith(
  database: SqlDatabase,
  tagDatabase: SqlDatabase | null,
  release: Statement,
  day: string,
  { network, tags }: ReservationExtras,
): Promise<void> {
  const { isPostgres } = database.dialect
  // Enforces the order of the reservation, whatever the query plan, to prevent deadlocks.
  const after = rawSql(isPostgres ? 'and (select count(*) from released) >= 0' : '')
  const deleteTags = (condition: Part) =>
    sql`delete from links where at_ms = ${Math.floor(tags!.atMs)} and number = ${tags!.number} ${condition}`
  const statements = [
    ...(network
      ? [
          sql`update shares set used = used - 1
            where day = ${day} and name = ${network.bucket} and used > 0 ${after}`,
        ]
      : []),
    ...(tags && tagDatabase === database ? [deleteTags(after)] : []),
  ]
  if (tags && tagDatabase !== null && tagDatabase !== database) {
    await tagDatabase.write([deleteTags(rawSql(''))])
  }
  if (!isPostgres || statements.length === 0) {
    await database.write([release, ...statements])
    return
  }
  const returning = { ...release, sql: `${release.sql} returning 1` }
  const others = Object.fromEntries(statements.map((statement, index) => [`also_${index}`, statement]))
  await database.write([joined({ released: returning, ...others }, sql`select 1 as done`)])
}

/** `from`: makes the insert depend on another statement. */
function insertTags(tags: UploaderTags, from = rawSql('')): Statement {
  return sql`insert into links (at_ms, number, id, tag_a, tag_b)
    select cast(${Math.floor(tags.atMs)} as bigint), cast(${tags.number} as bigint), ${tags.id}, ${tags.tagA},
      ${tags.tagB} ${from}`
}
