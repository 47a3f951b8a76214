/** Uploader tags, kept for two days. The table is called `links`. */
import { NETWORK_TAG_LENGTH, TAG_LENGTH, type UploaderTagLedger } from '../uploader-tags.ts'
import type { SqlDatabase } from './database.ts'
import { deleteAll, type PrivateTables } from './private.ts'
import { list, sql } from './statement.ts'

/** Rows scanned per query, so that others wait for a page rather than a million rows. */
const PAGE_ROWS = 10_000

/** Rows deleted per transaction. */
const DELETE_BATCH_ROWS = 500

interface UploadRow {
  id: string
  at_ms: number
}

/** From `from` (inclusive) to `to` (exclusive). Epoch milliseconds. */
interface Page {
  database: SqlDatabase
  from: number
  to: number
}

export function uploaderTagsLedger(tables: Pick<PrivateTables, 'allTags' | 'forgetTags'>): UploaderTagLedger {
  async function timeOf(database: SqlDatabase, from: number, offset: number): Promise<number | null> {
    const [row] = await database.read<{ at_ms: number }>(
      sql`select at_ms from links where at_ms >= ${from} order by at_ms limit 1 offset ${offset}`,
    )
    return row?.at_ms ?? null
  }

  /** Pages over all rows. A full scan, on the operator's request only: an index would slow down every upload. */
  async function* pages(): AsyncGenerator<Page> {
    for (const database of await tables.allTags()) {
      let from = await timeOf(database, Number.MIN_SAFE_INTEGER, 0)
      while (from !== null) {
        const next = await timeOf(database, from, PAGE_ROWS)
        // All rows of a page may have the same time.
        const to: number = next === null ? Number.MAX_SAFE_INTEGER : Math.max(next, from + 1)
        yield { database, from, to }
        from = next === null ? null : to
        // Yields to the event loop: SQLite answers synchronously.
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
    }
  }

  /** The first `length` characters of an upload's tags. */
  async function tagsOf(id: string, length: number): Promise<{ a: string[]; b: string[] }> {
    const [a, b] = [new Set<string>(), new Set<string>()]
    for await (const { database, from, to } of pages()) {
      const rows = await database.read<{ tag_a: string; tag_b: string }>(
        sql`select tag_a, tag_b from links where at_ms >= ${from} and at_ms < ${to} and id = ${id}`,
      )
      for (const { tag_a, tag_b } of rows) {
        a.add(tag_a.slice(0, length))
        b.add(tag_b.slice(0, length))
      }
    }
    return { a: [...a], b: [...b] }
  }

  /** Times of uploads with a tag that has the first `length` characters in common with one of this upload's, by ID. */
  async function related(id: string, length: number): Promise<Map<string, number>> {
    const times = new Map<string, number>()
    const { a, b } = await tagsOf(id, length)
    if (a.length === 0) return times
    for await (const { database, from, to } of pages()) {
      const rows = await database.read<UploadRow>(
        sql`select id, at_ms from links where at_ms >= ${from} and at_ms < ${to} and id <> ${id}
          and (substr(tag_a, 1, ${length}) in ${list(a)} or substr(tag_b, 1, ${length}) in ${list(b)}) order by at_ms`,
      )
      for (const { id, at_ms } of rows) times.set(id, at_ms)
    }
    return times
  }

  return {
    sameUploader: async (id, limit) => newestOf(await related(id, TAG_LENGTH), limit),
    sameNetwork: async (id, limit) => newestOf(await related(id, NETWORK_TAG_LENGTH), limit),

    async uploadedBetween(from, to, limit) {
      const times = new Map<string, number>()
      for (const database of await tables.allTags()) {
        const rows = await database.read<UploadRow>(
          sql`select id, at_ms from links where at_ms >= ${from} and at_ms < ${to} order by at_ms desc limit ${limit}`,
        )
        for (const { id, at_ms } of rows) times.set(id, at_ms)
      }
      return newestOf(times, limit)
    },

    async forgetTagsBefore(atMs, saltDay) {
      const before = Math.floor(atMs)
      await tables.forgetTags(before, saltDay)
      const deleteBatch = sql`delete from links where at_ms < ${before} and at_ms <= coalesce(
        (select at_ms from links order by at_ms limit 1 offset ${DELETE_BATCH_ROWS - 1}), ${before})`
      for (const database of await tables.allTags()) {
        await deleteAll(database, deleteBatch, DELETE_BATCH_ROWS)
        await database.wipe()
      }
    },
  }
}

/** IDs by time, newest first. */
function newestOf(times: ReadonlyMap<string, number>, limit: number): string[] {
  const newest = [...times].sort(([, one], [, other]) => other - one)
  return newest.slice(0, Math.max(0, limit)).map(([id]) => id)
}
