/**
 * Where the ledger keeps what is derived from addresses: apart from all that is copied or kept, and no longer than the day
 * that it is for (docs/decisions/064). One implementation a technology.
 */
import type { SqlDatabase } from './database.ts'

export interface PrivateTables {
  /** Has `places`, `shares` and `report_budgets` of the day. Throws `RangeError` for one that is none. */
  ofDay(day: string): Promise<SqlDatabase>
  /** The same, or `null` if nothing was ever written of that day, or it is forgotten. */
  ifThere(day: string): Promise<SqlDatabase | null>
  /** Has `links` of uploads of that time. Where it is that of the day too, one transaction can write both. */
  linksAt(atMs: number): Promise<SqlDatabase>
  /** All that have `links`. */
  everyLinks(): Promise<SqlDatabase[]>
  /** 32 bytes in hex, the same for all who ask, made for whoever asks first. `key`: a day, or a day and a purpose. */
  salt(key: string): Promise<string>
  /** Erases days before `day`, but for links and their salts; and all of days after `last`. */
  forgetDays(before: string, last: string): Promise<void>
  /** Erases salts of links of days before `saltDay`, and what holds only links of uploads before `atMs`. */
  forgetLinks(atMs: number, saltDay: string): Promise<void>
  close(): Promise<void>
}

export const LAST_DAY = '9999-12-31'

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** Days are compared as text. Throws `RangeError`. */
export function checkedDay(day: string): string {
  if (!DAY_PATTERN.test(day)) throw new RangeError('a day is written YYYY-MM-DD')
  return day
}

/** What may be known of a day only while it lasts. Its tables, in the SQL that SQLite and Postgres share. */
export const DAY_TABLES = [
  // Places taken by one bucket on one day. Days are YYYY-MM-DD, UTC.
  `create table if not exists places (
    day text not null,
    bucket text not null,
    used bigint not null check (used >= 0),
    refusals bigint not null default 0,
    refused_bytes bigint not null default 0,
    held bigint not null default 0,
    held_at_ms bigint not null default 0,
    primary key (day, bucket)
  )`,
  `create table if not exists shares (
    day text not null,
    name text not null,
    used bigint not null check (used >= 0),
    primary key (day, name)
  )`,
  `create table if not exists report_budgets (
    day text not null,
    bucket text not null,
    used bigint not null,
    primary key (day, bucket)
  )`,
]

export const LINK_TABLES = [
  `create table if not exists links (at_ms bigint not null, number bigint not null, id text not null, tag_a text not null,
    tag_b text not null)`,
  'create index if not exists links_by_time on links (at_ms)',
]

/** No copy of a ledger has them. `uploads` is of a version before `links`. */
export const PRIVATE_TABLES = [
  'places',
  'shares',
  'report_budgets',
  'links',
  'uploads',
  'salts',
  'salt_marks',
]

/** Whether it is one of these, or a part of one. */
export function isPrivate(table: string): boolean {
  return PRIVATE_TABLES.includes(table.replace(/_(other|\d{8})$/, ''))
}

/** UTC, of epoch milliseconds. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
