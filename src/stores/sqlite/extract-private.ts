/** Migration: moves private tables of older versions out of the ledger's file into per-day files, without leaving a trace. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../async.ts'
import { utcDayOf } from '../../utc-day.ts'
import { flushFolder } from '../disk/flush-folder.ts'
import { saltFiles } from '../private/salt-files.ts'
import { checkedDay, DAY_TABLES, PRIVATE_TABLES, TAG_TABLES } from '../sql/private.ts'
import { type Connection, inTransaction, pragma, rowsOf, translatingErrors } from './connection.ts'
import { connect, truncateLog } from './database.ts'
import { hasTable, tableCreator } from './private.ts'
import type { ServerLock } from './servers.ts'

/** `user_version` of a file without private data. */
const CLEAN = 1

const RETRY_MS = 20

/** Whether this file is free of private data. */
export function isClean(connection: Connection): boolean {
  return pragma(connection, 'user_version') === CLEAN
}

/**
 * Migrates and cleans a file while no server is using it. Can be killed at any point and restarted. Throws an `Error`, and
 * changes nothing, if a server of an older version is running.
 */
export async function extractPrivate(
  file: string,
  folder: string,
  timeoutMs: number,
  serverLock: ServerLock,
  migrate: (connection: Connection) => void,
): Promise<void> {
  const connection = connect(file, timeoutMs, () => {})
  const deadline = performance.now() + timeoutMs
  try {
    connection.exec(`pragma busy_timeout = ${timeoutMs}`)
    while (!isClean(connection)) {
      const isDone = await serverLock.whileAlone(async () => {
        if (isClean(connection)) return
        translatingErrors(() => migrate(connection))
        if (hasTable(connection, 'places')) await moveTables(connection, folder, timeoutMs)
        // Clears free pages, and free space within pages.
        translatingErrors(() => connection.exec('vacuum'))
        while (!translatingErrors(() => truncateLog(connection))) await pauseUntil(deadline, file)
        connection.exec(`pragma user_version = ${CLEAN}`)
      })
      if (!isDone) await pauseUntil(deadline, file)
    }
  } finally {
    connection.close()
  }
}

async function pauseUntil(deadline: number, file: string): Promise<void> {
  if (performance.now() > deadline) {
    throw new Error(`a server of an older version is on ${file}: stop it first, then start this one`)
  }
  await sleep(RETRY_MS)
}

/** All copies are flushed before anything is dropped. Idempotent, as no other process is writing. */
async function moveTables(connection: Connection, folder: string, timeoutMs: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const salts = saltFiles(folder)
  const rows = <Row>(sql: string) => rowsOf<Row>(connection, sql)
  for (const { day, salt } of rows<{ day: string; salt: string }>('select day, salt from salts')) {
    await salts.keep(day, salt)
  }
  const copy = (name: string, tables: readonly string[], statements: string[]) => {
    const file = join(folder, name)
    connect(file, timeoutMs, tableCreator(tables)).close()
    connection.prepare('attach ? as day').run(file)
    try {
      inTransaction(connection, 'deferred', () => connection.exec(statements.join(';')))
      connection.exec('pragma day.wal_checkpoint(truncate)')
    } finally {
      connection.exec('detach day')
    }
  }
  for (const { day } of rows<{ day: string }>('select day from places union select day from shares')) {
    copy(`usage-${checkedDay(day)}.sqlite`, DAY_TABLES, [
      `insert into day.places (day, bucket, used, refusals, refused_bytes, held, held_at_ms)
        select day, bucket, used, refusals, refused_bytes, held, held_at_ms from main.places where day = '${day}'
        on conflict do update set used = max(used, excluded.used), refusals = max(refusals, excluded.refusals),
          refused_bytes = max(refused_bytes, excluded.refused_bytes)`,
      `insert into day.shares (day, name, used) select day, name, used from main.shares where day = '${day}'
        on conflict do update set used = max(used, excluded.used)`,
    ])
  }
  const daysOf = 'select distinct at_ms / 86400000 * 86400000 as at from'
  for (const { at } of rows<{ at: number }>(`${daysOf} links union ${daysOf} uploads`)) {
    const isOfDay = `at_ms >= ${at} and at_ms < ${at} + 86400000`
    copy(`links-${utcDayOf(at)}.sqlite`, TAG_TABLES, [
      'delete from day.links',
      `insert into day.links select at_ms, number, id, tag_a, tag_b from main.links where ${isOfDay}`,
      `insert into day.links select at_ms, 0, id, tag_a, tag_b from main.uploads where ${isOfDay}`,
    ])
  }
  await flushFolder(folder)
  inTransaction(connection, 'deferred', () => {
    for (const table of PRIVATE_TABLES) connection.exec(`drop table if exists ${table}`)
  })
}
