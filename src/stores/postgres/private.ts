/**
 * Adapter: private tables in Postgres. Each day has its own partitions, which are dropped after it. Salts are in an unlogged
 * table and on the servers' machines: after a crash of the database the first server that knows a salt restores it. Until
 * then no other salt is used, as that would reset every address's quota.
 */
import { createHash } from 'node:crypto'
import { DAY_MS } from '../../utc-day.ts'
import { LedgerUnavailable } from '../ledger.ts'
import { saltFiles } from '../private/salt-files.ts'
import type { SqlDatabase, Statement } from '../sql/database.ts'
import {
  checkedDay,
  DAY_TABLES,
  deleteAll,
  isSaltExpired,
  isTagSaltExpired,
  LAST_DAY,
  newSalt,
  type PrivateTables,
} from '../sql/private.ts'
import { list, rawSql, sql } from '../sql/statement.ts'

export interface PostgresPrivate extends PrivateTables {
  /** Restores salts that this process knows and the database lost. */
  restoreSalts(): Promise<void>
}

/**
 * Tables whose partitions are unlogged: absent from the write-ahead log, its archive and base backups, and emptied by a crash.
 * That resets the day's report budgets. Upload counts must survive a crash, so they are logged.
 */
const UNLOGGED: readonly string[] = ['report_budgets']

/** Rows deleted per transaction. */
const DELETE_BATCH_ROWS = 500

/** Uploads queue behind a statement that waits for a table lock, so it gives up soon and is retried later. */
const SHORT_LOCK_TIMEOUT: Statement = { sql: "set local lock_timeout = '1s'", parameters: [] }

const digestOf = (salt: string) => createHash('sha256').update(salt).digest('hex')
const plain = (text: string): Statement => ({ sql: text, parameters: [] })

export function postgresPrivate(database: SqlDatabase, saltFolder: string | null): PostgresPrivate {
  const local = saltFolder === null ? null : saltFiles(saltFolder)
  /** Salts by key, as they should be in the database. */
  const known = new Map<string, string>()
  /** Days whose partitions were created. If that failed, their rows go to the default partition. */
  const partitioned = new Map<string, Promise<boolean>>()

  /** `false` if one could not be created. */
  async function createPartitions(day: string): Promise<boolean> {
    const suffix = day.replaceAll('-', '')
    const begin = Date.parse(day)
    const statements = DAY_TABLES.map(
      (table) => `create ${UNLOGGED.includes(table) ? 'unlogged ' : ''}table if not exists ${table}_${suffix}
        partition of ${table} for values in ('${day}')`,
    )
    if (!Number.isNaN(begin)) {
      // Unlogged: losing tags in a crash only costs the operator some traceability.
      statements.push(`create unlogged table if not exists links_${suffix} partition of links
        for values from (${begin}) to (${begin + DAY_MS})`)
    }
    let isComplete = true
    for (const statement of statements) {
      // Fails if another server is creating it, a long read locks the table, or the default partition has rows of the day.
      await database.write([SHORT_LOCK_TIMEOUT, plain(statement)]).catch(() => {
        isComplete = false
      })
    }
    return isComplete
  }

  /** Drops expired partitions, and truncates a default partition without rows. */
  async function dropPartitions(
    tables: readonly string[],
    isExpired: (day: string) => boolean,
  ): Promise<void> {
    for (const table of tables) {
      const rows = await database.read<{ name: string }>(
        sql`select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = to_regclass(${table})`,
      )
      for (const row of rows) {
        const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(row.name) ?? []
        if (year === undefined || !isExpired(`${year}-${month}-${day}`)) continue
        await database.write([SHORT_LOCK_TIMEOUT, plain(`drop table if exists ${row.name}`)])
      }
      const other = `${table}_other`
      const [left] = await database.read(
        plain(`select pg_relation_size('${other}') > 0 and not exists (select 1 from ${other}) as "isEmpty"`),
      )
      if (!left!.isEmpty) continue
      // Checked again under the lock: a count may just have been committed.
      const truncate = `do $$ begin
        lock table ${other};
        if not exists (select 1 from ${other}) then truncate ${other}; end if;
      end $$`
      await database.write([SHORT_LOCK_TIMEOUT, plain(truncate)])
    }
  }

  /** Rebuilds the table with the remaining salts: deleted rows would stay in its pages. */
  async function forgetSalts(isExpired: (key: string) => boolean): Promise<void> {
    for (const key of known.keys()) if (isExpired(key)) known.delete(key)
    await local?.forget(isExpired)
    const rows = await database.read<{ day: string }>(
      sql`select day from salt_marks union select day from salts`,
    )
    const expired = rows.map(({ day }) => day).filter(isExpired)
    if (expired.length === 0) return
    await database.write([
      SHORT_LOCK_TIMEOUT,
      plain('alter table salts rename to salts_past'),
      plain('create unlogged table salts (like salts_past including all)'),
      // Otherwise "analyze" would copy some salts to the catalogue, which is logged.
      plain('alter table salts alter column salt set statistics 0'),
      sql`insert into salts select * from salts_past where day not in ${list(expired)}`,
      plain('drop table salts_past'),
      sql`delete from salt_marks where day in ${list(expired)}`,
    ])
  }

  async function restoreSalts(): Promise<void> {
    if (known.size === 0) return
    const keys = [...known.keys()]
    const rows = await database.read(sql`select day from salts where day in ${list(keys)}`)
    if (rows.length === keys.length) return
    // A salt that another server erased has no mark.
    await database.write(
      keys.map((key) => {
        const salt = known.get(key)!
        return sql`insert into salts (day, salt) select day, ${salt} from salt_marks
          where day = ${key} and mark = ${digestOf(salt)} on conflict (day) do nothing`
      }),
    )
  }

  return {
    restoreSalts,
    close: async () => {},

    async usageOf(day) {
      if (!partitioned.has(checkedDay(day))) partitioned.set(day, createPartitions(day))
      await partitioned.get(day)
      return database
    },

    existingUsageOf: async () => database,
    tagsAt: async () => database,
    allTags: async () => [database],

    async salt(key) {
      const localSalt = (await local?.read(key)) ?? null
      const [inserted] = await database.write([
        sql`insert into salts (day, salt) values (${key}, ${localSalt ?? newSalt()})
          on conflict (day) do update set salt = salts.salt returning salt`,
      ])
      const storedSalt = inserted!.rows[0]!.salt as string
      const [marked] = await database.write([
        sql`insert into salt_marks (day, mark) values (${key}, ${digestOf(storedSalt)})
          on conflict (day) do update set mark = salt_marks.mark returning mark`,
      ])
      const mark = marked!.rows[0]!.mark as string
      const salt = [storedSalt, localSalt].find((each) => each !== null && digestOf(each) === mark)
      if (salt === undefined || salt === null) {
        await database.write([sql`delete from salts where day = ${key} and salt = ${storedSalt}`])
        const cause = new Error(
          `the database lost the salt of ${key} in a crash; a server that has it will restore it within half a minute. ` +
            'If none has it, "delete from salt_marks" resets everyone’s quota for the day',
        )
        throw new LedgerUnavailable({ cause })
      }
      known.set(key, salt)
      await local?.keep(key, salt)
      return salt
    },

    async forgetDays(before, last) {
      for (const day of partitioned.keys()) if (day < before || day > last) partitioned.delete(day)
      await forgetSalts((key) => isSaltExpired(key, before, last))
      for (const other of DAY_TABLES.map((table) => rawSql(`${table}_other`))) {
        const deleteBatch = sql`delete from ${other} where ctid in (select ctid from ${other}
          where day < ${before} or day > ${last} limit ${DELETE_BATCH_ROWS})`
        await deleteAll(database, deleteBatch, DELETE_BATCH_ROWS)
      }
      await dropPartitions(DAY_TABLES, (day) => day < before || day > last)
      await dropPartitions(['links'], (day) => day > last)
      // Tomorrow's: a long read at midnight would keep them from being created, and its rows would be in the log. Retried by
      // the next call.
      if (last !== LAST_DAY && !partitioned.has(last) && (await createPartitions(last))) {
        partitioned.set(last, Promise.resolve(true))
      }
    },

    async forgetTags(atMs, saltDay) {
      await forgetSalts((key) => isTagSaltExpired(key, saltDay))
      await dropPartitions(['links'], (day) => Date.parse(day) + DAY_MS <= atMs)
    },
  }
}
