/** The day’s quota, salts and caps. */
import { fromHex } from '../../bytes.ts'
import type { Ledger, Refusals, ReservedWith } from '../ledger.ts'
import type { UploaderTags } from '../uploader-tags.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { checkedDay, LAST_DAY, type PrivateTables } from './private.ts'
import { joined, type Part, rawSql, sql } from './statement.ts'

const UNLIMITED: Refusals = { count: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

/** A day has few. */
const KNOWN_SALTS = 8

type Places = Record<'used' | 'refusals' | 'refused_bytes' | 'held' | 'held_at_ms', number>

/** The table is called `places`, and its columns of reservations `held`: servers of 0.1.0 count in it too (docs/decisions/040). */
export function quotaLedger(tables: PrivateTables) {
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
      const row = await placesOf(bucket, day)
      return {
        used: row?.used ?? 0,
        count: row?.refusals ?? 0,
        bytes: row?.refused_bytes ?? 0,
        reserved: row?.held ?? 0,
        reservedAtMs: row?.held_at_ms ?? 0,
      }
    },

    usedUploads: async (bucket, day) => (await placesOf(bucket, day))?.used ?? 0,

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
  } satisfies Partial<Ledger>

  async function placesOf(bucket: string, day: string): Promise<Places | undefined> {
    const statement = sql`select used, refusals, refused_bytes, held, held_at_ms from places
      where day = ${checkedDay(day)} and bucket = ${bucket}`
    const database = await tables.ifThere(day)
    return (await database?.read<Places>(statement))?.[0]
  }
}

/** Caps of a day. The table is called `shares`: servers of 0.1.0 count in it too (docs/decisions/040). */
export function capacityLedger(tables: PrivateTables) {
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
      const found = await database?.read<{ used: number }>(
        sql`select used from shares where day = ${day} and name = ${name}`,
      )
      return found?.[0]?.used ?? 0
    },
  } satisfies Partial<Ledger>
}

// What goes with the reservation of an upload is in the statement that makes it or in its transaction: no upload waits for one
// more round trip or flush.

interface Reserved {
  /** Uploads of the address in the day. `null` if it has none left. */
  used: number | null
  isNetworkFull: boolean
}

/** `reserve`: of the address, returning `used`. Nothing else is done if it returns nothing. `tagged`: where tags go; here only if it is `database`. */
async function reserveWith(
  database: SqlDatabase,
  tagged: SqlDatabase | null,
  reserve: Statement,
  day: string,
  { network, tags }: ReservedWith,
): Promise<Reserved> {
  const isOne = database.dialect.changesInQueries
  const from = (name: string) => rawSql(isOne ? `from ${name} where true` : 'where changes() > 0')
  const inNetwork =
    network &&
    sql`insert into shares (day, name, used) select ${day}, ${network.bucket}, 1 ${from('reserved')}
      on conflict (day, name) do update set used = shares.used + 1 where shares.used < ${network.limit}
      returning used`
  const withTags =
    tags && tagged === database ? tagStatement(tags, from(network ? 'shared' : 'reserved')) : undefined
  const statements = [reserve, inNetwork, withTags].filter((statement) => statement !== undefined)
  if (!isOne || statements.length === 1) {
    const [mine, shared] = await database.write(statements)
    const used = (mine!.rows[0]?.used as number | undefined) ?? null
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

/** `release`: of the address. */
async function releaseWith(
  database: SqlDatabase,
  tagged: SqlDatabase | null,
  release: Statement,
  day: string,
  { network, tags }: ReservedWith,
): Promise<void> {
  const isOne = database.dialect.changesInQueries
  // In the order of the reservation, whatever the plan: two that wait for each other's rows would wait for ever.
  const after = rawSql(isOne ? 'and (select count(*) from released) >= 0' : '')
  const untag = (condition: Part) =>
    sql`delete from links where at_ms = ${Math.floor(tags!.atMs)} and number = ${tags!.number} ${condition}`
  const statements = [
    ...(network
      ? [
          sql`update shares set used = used - 1
            where day = ${day} and name = ${network.bucket} and used > 0 ${after}`,
        ]
      : []),
    ...(tags && tagged === database ? [untag(after)] : []),
  ]
  if (tags && tagged !== null && tagged !== database) await tagged.write([untag(rawSql(''))])
  if (!isOne || statements.length === 0) {
    await database.write([release, ...statements])
    return
  }
  const returning = { ...release, sql: `${release.sql} returning 1` }
  const others = Object.fromEntries(statements.map((statement, nth) => [`also_${nth}`, statement]))
  await database.write([joined({ released: returning, ...others }, sql`select 1 as done`)])
}

/** `from`: where it depends on another statement. */
function tagStatement(tags: UploaderTags, from = rawSql('')): Statement {
  return sql`insert into links (at_ms, number, id, tag_a, tag_b)
    select cast(${Math.floor(tags.atMs)} as bigint), cast(${tags.number} as bigint), ${tags.id}, ${tags.tagA},
      ${tags.tagB} ${from}`
}
