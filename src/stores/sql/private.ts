/**
 * Port: private tables, which hold data derived from addresses. Kept apart from everything that is backed up or retained, and
 * erased after the day they are for (docs/decisions/037). One implementation per technology.
 */
import { toHex } from '../../bytes.ts'
import type { SqlDatabase, Statement } from './database.ts'

export interface PrivateTables {
  /** Database with the day's `places`, `shares` and `report_budgets`. Throws `RangeError` for a malformed day. */
  usageOf(day: string): Promise<SqlDatabase>
  /** Like `usageOf`, but `null` if nothing was ever written for that day, or it was erased. */
  existingUsageOf(day: string): Promise<SqlDatabase | null>
  /** Database with `links` for uploads of that time. If it is the same as `usageOf`, one transaction can write both. */
  tagsAt(atMs: number): Promise<SqlDatabase>
  /** Every database with `links`. */
  allTags(): Promise<SqlDatabase[]>
  /** 32 bytes in hex, created on first use and the same for all processes. `key`: a day, or a day and a purpose. */
  salt(key: string): Promise<string>
  /** Erases days before `before`, except tags and their salts; and everything of days after `last`. */
  forgetDays(before: string, last: string): Promise<void>
  /** Erases tag salts of days before `saltDay`, and files or partitions that hold only tags of uploads before `atMs`. */
  forgetTags(atMs: number, saltDay: string): Promise<void>
  close(): Promise<void>
}

export const LAST_DAY = '9999-12-31'

const SALT_BYTES = 32

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** Validates a day: days are compared as text. Throws `RangeError`. */
export function checkedDay(day: string): string {
  if (!DAY_PATTERN.test(day)) throw new RangeError('a day must have the format YYYY-MM-DD')
  return day
}

/** In hex. */
export function newSalt(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)))
}

/** Whether `forgetDays` erases the salt with this key. Keys of tag salts have a purpose. */
export function isSaltExpired(key: string, before: string, last: string): boolean {
  return (key < before && !key.includes(' ')) || key.slice(0, 10) > last
}

/** Whether `forgetTags` erases the salt with this key. */
export function isTagSaltExpired(key: string, saltDay: string): boolean {
  return key.includes(' ') && key.slice(0, 10) < saltDay
}

/** Tables of one day, erased with it. Documented in `sql/schema.ts`. */
export const DAY_TABLES = ['places', 'shares', 'report_budgets'] as const

/** Tables of uploader tags, kept for two days. */
export const TAG_TABLES = ['links'] as const

/** Tables excluded from backups. `uploads` is the predecessor of `links`. */
export const PRIVATE_TABLES: readonly string[] = [
  ...DAY_TABLES,
  ...TAG_TABLES,
  'uploads',
  'salts',
  'salt_marks',
]

/** Whether a table is private, or a partition of a private table. */
export function isPrivate(table: string): boolean {
  return PRIVATE_TABLES.includes(table.replace(/_(other|\d{8})$/, ''))
}

/** Runs a statement that deletes at most `batchRows` until no rows are left. One transaction per batch lets others write. */
export async function deleteAll(
  database: SqlDatabase,
  statement: Statement,
  batchRows: number,
): Promise<void> {
  for (;;) {
    const [outcome] = await database.write([statement])
    if (outcome!.changes < batchRows) return
  }
}
