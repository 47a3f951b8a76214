/**
 * What goes with the reservation of an upload, in the statement that makes it or in its transaction: no upload waits for
 * one more round trip or flush.
 */
import type { ReservedWith } from '../ledger.ts'
import type { UploaderTags } from '../uploader-tags.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { joined, type RawSql, rawSql, sql } from './statement.ts'

export interface Reserved {
  /** Uploads of the address in the day. `null` if it has none left. */
  used: number | null
  isNetworkFull: boolean
}

/** `reserve`: of the address, returning `used`. Nothing else is done if it returns nothing. `tagged`: where tags go; here only if it is `database`. */
export async function reserveWith(
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
export async function releaseWith(
  database: SqlDatabase,
  tagged: SqlDatabase | null,
  release: Statement,
  day: string,
  { network, tags }: ReservedWith,
): Promise<void> {
  const isOne = database.dialect.changesInQueries
  // In the order of the reservation, whatever the plan: two that wait for each other's rows would wait for ever.
  const after = rawSql(isOne ? 'and (select count(*) from released) >= 0' : '')
  const untag = (condition: RawSql) =>
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
export function tagStatement(tags: UploaderTags, from = rawSql('')): Statement {
  return sql`insert into links (at_ms, number, id, tag_a, tag_b)
    select cast(${Math.floor(tags.atMs)} as bigint), cast(${tags.number} as bigint), ${tags.id}, ${tags.tagA},
      ${tags.tagB} ${from}`
}
