/**
 * Where the ledger keeps what is derived from addresses: apart from all that is copied or kept, and no longer than the day
 * that it is for (docs/decisions/037). One implementation a technology.
 */
import { toHex } from '../../bytes.ts'
import type { SqlDatabase, Statement } from './database.ts'

export interface PrivateTables {
  /** Has `places`, `shares` and `report_budgets` of the day. Throws `RangeError` for one that is none. */
  ofDay(day: string): Promise<SqlDatabase>
  /** The same, or `null` if nothing was ever written of that day, or it is forgotten. */
  ifThere(day: string): Promise<SqlDatabase | null>
  /** Has `links` for uploads of that time. If it is the same as `ofDay`, one transaction can write both. */
  tagsAt(atMs: number): Promise<SqlDatabase>
  /** All that have `links`. */
  everyTags(): Promise<SqlDatabase[]>
  /** 32 bytes in hex, made for the first that asks and the same for all. `key`: a day, or a day and a purpose. */
  salt(key: string): Promise<string>
  /** Erases days before `day`, but for tags and their salts; and all of days after `last`. */
  forgetDays(before: string, last: string): Promise<void>
  /** Erases salts of tags of days before `saltDay`, and files or parts that hold only tags of uploads before `atMs`. */
  forgetTags(atMs: number, saltDay: string): Promise<void>
  close(): Promise<void>
}

export const LAST_DAY = '9999-12-31'

export const DAY_MS = 86_400_000

const SALT_BYTES = 32

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** Days are compared as text. Throws `RangeError`. */
export function checkedDay(day: string): string {
  if (!DAY_PATTERN.test(day)) throw new RangeError('a day is written YYYY-MM-DD')
  return day
}

/** In hex. */
export function newSalt(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)))
}

/** Whether `forgetDays` erases the salt of this key. Those of tags have a purpose. */
export function isSaltOver(key: string, before: string, last: string): boolean {
  return (key < before && !key.includes(' ')) || key.slice(0, 10) > last
}

/** Whether `forgetTags` erases the salt of this key. */
export function isTagSaltOver(key: string, saltDay: string): boolean {
  return key.includes(' ') && key.slice(0, 10) < saltDay
}

/** Tables of a day, which are erased with it. `sql/schema.ts` says what is in them. */
export const DAY_TABLES = ['places', 'shares', 'report_budgets'] as const

/** Tables of uploader tags, which are kept for two days. */
export const TAG_TABLES = ['links'] as const

/** No copy of a ledger has them. `uploads` is of a version before `links`. */
export const PRIVATE_TABLES: readonly string[] = [
  ...DAY_TABLES,
  ...TAG_TABLES,
  'uploads',
  'salts',
  'salt_marks',
]

/** Whether it is one of these, or a part of one. */
export function isPrivate(table: string): boolean {
  return PRIVATE_TABLES.includes(table.replace(/_(other|\d{8})$/, ''))
}

/** Runs a statement that deletes at most `rows`, in one transaction each time, until none is left: others write in between. */
export async function deleteAll(database: SqlDatabase, statement: Statement, rows: number): Promise<void> {
  for (;;) {
    const [outcome] = await database.write([statement])
    if (outcome!.changes < rows) return
  }
}

/** UTC, of epoch milliseconds. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
