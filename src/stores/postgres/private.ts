/**
 * Adapter: private tables in Postgres. Each day has partitions of its own, which are dropped with it. Salts are in an
 * unlogged table and on the servers' machines: after a crash of the database the first server that knows a salt puts it
 * back. Until then no other salt is used, or every address would begin its day anew.
 */
import { createHash } from 'node:crypto'
import { LedgerUnavailable } from '../ledger.ts'
import { saltFiles } from '../private/salt-files.ts'
import type { SqlDatabase, Statement } from '../sql/database.ts'
import {
  checkedDay,
  DAY_MS,
  DAY_TABLES,
  deleteAll,
  isSaltOver,
  isTagSaltOver,
  newSalt,
  type PrivateTables,
} from '../sql/private.ts'
import { list, rawSql, sql } from '../sql/statement.ts'

export interface PostgresPrivate extends PrivateTables {
  /** Restores salts that the database lost and this process knows. */
  putBack(): Promise<void>
}

/**
 * Days of these are unlogged: nothing of them is in the write-ahead log, its archive or a base backup, and a crash empties
 * them. Reporters then begin the day's budget anew. What uploads used must survive a crash, so it is logged.
 */
const UNLOGGED: readonly string[] = ['report_budgets']

/** Rows of one transaction. */
const FORGOTTEN_AT_ONCE = 500

/** Uploads queue behind a statement that waits for a table's lock: it gives up soon, and is tried again later. */
const BRIEFLY: Statement = { sql: "set local lock_timeout = '1s'", parameters: [] }

const markOf = (salt: string) => createHash('sha256').update(salt).digest('hex')
const plain = (text: string): Statement => ({ sql: text, parameters: [] })

export function postgresPrivate(database: SqlDatabase, saltFolder: string | null): PostgresPrivate {
  const local = saltFolder === null ? null : saltFiles(saltFolder)
  /** Salts by their keys, as the database should have them. */
  const known = new Map<string, string>()
  /** Days whose partitions were made, or could not be: their rows are in the default partition then. */
  const made = new Map<string, Promise<void>>()

  async function makeParts(day: string): Promise<void> {
    const suffix = day.replaceAll('-', '')
    const begin = Date.parse(day)
    const statements = DAY_TABLES.map(
      (table) => `create ${UNLOGGED.includes(table) ? 'unlogged ' : ''}table if not exists ${table}_${suffix}
        partition of ${table} for values in ('${day}')`,
    )
    if (!Number.isNaN(begin)) {
      // Unlogged: tags that a crash takes cost the operator a trace.
      statements.push(`create unlogged table if not exists links_${suffix} partition of links
        for values from (${begin}) to (${begin + DAY_MS})`)
    }
    for (const statement of statements) {
      // Another server makes it now, or the default partition has rows of the day: an older server wrote them.
      await database.write([BRIEFLY, plain(statement)]).catch(() => {})
    }
  }

  /** Drops partitions of days that are over, and empties the files of a default partition without rows. */
  async function dropParts(tables: readonly string[], isOver: (day: string) => boolean): Promise<void> {
    for (const table of tables) {
      const rows = await database.read<{ name: string }>(
        sql`select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = to_regclass(${table})`,
      )
      for (const row of rows) {
        const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(row.name) ?? []
        if (year === undefined || !isOver(`${year}-${month}-${day}`)) continue
        await database.write([BRIEFLY, plain(`drop table if exists ${row.name}`)])
      }
      const other = `${table}_other`
      const [left] = await database.read(
        plain(`select pg_relation_size('${other}') > 0 and not exists (select 1 from ${other}) as "isEmpty"`),
      )
      if (left!.isEmpty) await database.write([BRIEFLY, plain(`truncate ${other}`)])
    }
  }

  /** Makes the table anew with the salts that are kept: deleted rows would stay in its pages. */
  async function forgetSalts(isOver: (key: string) => boolean): Promise<void> {
    for (const key of known.keys()) if (isOver(key)) known.delete(key)
    await local?.forget(isOver)
    const rows = await database.read<{ day: string }>(
      sql`select day from salt_marks union select day from salts`,
    )
    const over = rows.map(({ day }) => day).filter(isOver)
    if (over.length === 0) return
    await database.write([
      BRIEFLY,
      plain('alter table salts rename to salts_past'),
      plain('create unlogged table salts (like salts_past including all)'),
      // Or "analyze" would copy some of them to the catalogue, which is in the log.
      plain('alter table salts alter column salt set statistics 0'),
      sql`insert into salts select * from salts_past where day not in ${list(over)}`,
      plain('drop table salts_past'),
      sql`delete from salt_marks where day in ${list(over)}`,
    ])
  }

  async function putBack(): Promise<void> {
    if (known.size === 0) return
    const keys = [...known.keys()]
    const rows = await database.read(sql`select day from salts where day in ${list(keys)}`)
    if (rows.length === keys.length) return
    // Those that another server forgot have no mark.
    await database.write(
      keys.map((key) => {
        const salt = known.get(key)!
        return sql`insert into salts (day, salt) select day, ${salt} from salt_marks
          where day = ${key} and mark = ${markOf(salt)}
          on conflict (day) do update set salt = excluded.salt where salts.salt <> excluded.salt`
      }),
    )
  }

  return {
    putBack,
    close: async () => {},

    async ofDay(day) {
      if (!made.has(checkedDay(day))) made.set(day, makeParts(day))
      await made.get(day)
      return database
    },

    ifThere: async () => database,
    tagsAt: async () => database,
    everyTags: async () => [database],

    async salt(key) {
      const mine = (await local?.read(key)) ?? null
      const [there] = await database.write([
        sql`insert into salts (day, salt) values (${key}, ${mine ?? newSalt()})
          on conflict (day) do update set salt = salts.salt returning salt`,
      ])
      const found = there!.rows[0]!.salt as string
      const [marked] = await database.write([
        sql`insert into salt_marks (day, mark) values (${key}, ${markOf(found)})
          on conflict (day) do update set mark = salt_marks.mark returning mark`,
      ])
      const mark = marked!.rows[0]!.mark as string
      const salt = [found, mine].find((each) => each !== null && markOf(each) === mark)
      if (salt === undefined || salt === null) {
        await database.write([sql`delete from salts where day = ${key} and salt = ${found}`])
        const cause = new Error(
          `the database lost the salt of ${key} in a crash; a server that knows it puts it back within half a minute`,
        )
        throw new LedgerUnavailable({ cause })
      }
      known.set(key, salt)
      if (salt !== found) await putBack()
      await local?.keep(key, salt)
      return salt
    },

    async forgetDays(before, last) {
      for (const day of made.keys()) if (day < before || day > last) made.delete(day)
      await forgetSalts((key) => isSaltOver(key, before, last))
      for (const other of DAY_TABLES.map((table) => rawSql(`${table}_other`))) {
        const some = sql`delete from ${other} where ctid in (select ctid from ${other}
          where day < ${before} or day > ${last} limit ${FORGOTTEN_AT_ONCE})`
        await deleteAll(database, some, FORGOTTEN_AT_ONCE)
      }
      await dropParts(DAY_TABLES, (day) => day < before || day > last)
      await dropParts(['links'], (day) => day > last)
    },

    async forgetTags(atMs, saltDay) {
      await forgetSalts((key) => isTagSaltOver(key, saltDay))
      await dropParts(['links'], (day) => Date.parse(day) + DAY_MS <= atMs)
    },
  }
}
