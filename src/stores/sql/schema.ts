/**
 * How the ledger's tables came to be, in the SQL that SQLite and Postgres share. A migration that was released
 * is never edited; the next one is added at the end.
 */
import type { Migration } from './migration.ts'
import { DIGESTS_MIGRATION } from './schema-digests.ts'
import { PRIVATE } from './schema-private.ts'
import { REPORT_BUDGETS } from './schema-reports.ts'
import { TOMBSTONES_MIGRATION } from './tombstones-schema.ts'

export const MIGRATIONS: readonly Migration[] = [
  {
    name: '001-ledger',
    statements: [
      // Places taken by one bucket on one day. Days are YYYY-MM-DD, UTC.
      `create table places (
        day text not null,
        bucket text not null,
        used bigint not null check (used >= 0),
        primary key (day, bucket)
      )`,
      // 32 bytes in hex: SQLite and Postgres name their binary types differently.
      `create table salts (
        day text not null primary key,
        salt text not null
      )`,
      `create table blocks (
        sha256 text not null primary key,
        blocked_at_ms bigint not null
      )`,
      `create table removals (
        id text not null primary key,
        removed_at_ms bigint not null
      )`,
      // Numbers are random; microseconds order acts of the same millisecond.
      `create table acts (
        number text not null primary key,
        at_ms bigint not null,
        recorded_us bigint not null,
        act text not null check (act in ('remove', 'block', 'unblock')),
        subject text not null,
        reason text not null
      )`,
      'create index acts_by_time on acts (at_ms, recorded_us)',
      // One debt for each image. `claim`: the token of the last claim, 0 if there is none or the debt was renewed: an
      // older claim settles nothing. `due_at_ms`: not to be claimed before; while claimed, the end of the lease.
      `create table purges (
        id text not null primary key,
        claim bigint not null,
        attempts bigint not null,
        fill_ends_at_ms bigint not null,
        due_at_ms bigint not null,
        owed_since_ms bigint not null
      )`,
      'create index purges_by_due_time on purges (due_at_ms)',
    ],
  },
  {
    name: '002-instance',
    statements: [
      'create table facts (name text not null primary key, value text not null)',
      // `full_at_ms`: when as many turns as ever are free again.
      'create table turns (name text not null primary key, full_at_ms bigint not null)',
    ],
  },
  {
    name: '003-operator',
    statements: [
      // SQLite changes no check: the table is made anew. A server of the version before may write meanwhile: defaults.
      `create table acts_2 (
        number text not null primary key,
        at_ms bigint not null,
        recorded_us bigint not null,
        act text not null,
        subject text not null,
        reason text not null,
        who text not null default '',
        rule text not null default ''
      )`,
      `insert into acts_2 (number, at_ms, recorded_us, act, subject, reason)
        select number, at_ms, recorded_us, act, subject, reason from acts`,
      'drop table acts',
      'alter table acts_2 rename to acts',
      'create index acts_by_time on acts (at_ms, recorded_us)',
      `create table holds (
        id text not null primary key,
        held_at_ms bigint not null
      )`,
      // What is to become of an image: `held`, `visible` or `removed`. `version`: of the act that wants it. `claim` and
      // `due_at_ms` are as those of purges.
      `create table moves (
        id text not null primary key,
        wanted text not null,
        version bigint not null,
        claim bigint not null,
        due_at_ms bigint not null
      )`,
      'create index moves_by_due_time on moves (due_at_ms)',
      `create table settings (
        name text not null primary key,
        value text not null,
        changed_at_ms bigint not null
      )`,
    ],
  },
  {
    name: '004-refusals',
    statements: [
      'alter table places add column refusals bigint not null default 0',
      'alter table places add column refused_bytes bigint not null default 0',
    ],
  },
  {
    name: '005-capacity',
    statements: [
      // Of the instance's caps, and of networks. Days are YYYY-MM-DD, UTC.
      `create table shares (
        day text not null,
        name text not null,
        used bigint not null check (used >= 0),
        primary key (day, name)
      )`,
      'create table caps_reached (day text not null, name text not null, primary key (day, name))',
      // Which uploads came from one uploader, for two days. Tags are HMACs of the address under salts of 48 hours,
      // `tag_a` of those that begin on even days.
      `create table uploads (
        id text not null primary key,
        at_ms bigint not null,
        tag_a text not null,
        tag_b text not null
      )`,
      'create index uploads_by_tag_a on uploads (tag_a)',
      'create index uploads_by_tag_b on uploads (tag_b)',
      'create index uploads_by_time on uploads (at_ms)',
    ],
  },
  {
    name: '006-reports',
    statements: [
      // `reporter`: an HMAC under the day's salt, later the report's own number. `receipt_sha256`: of a secret that
      // only the reporter has.
      `create table reports (
        number text not null primary key,
        id text not null,
        category text not null,
        text text not null,
        contact text not null,
        reporter text not null,
        day text not null,
        receipt_sha256 text not null unique,
        at_ms bigint not null,
        unique (id, reporter)
      )`,
      'create index reports_by_reporter on reports (reporter)',
      'create index reports_by_day on reports (day)',
      // All that was reported of one image. `decided_at_ms`: 0 while nothing is decided.
      `create table cases (
        id text not null primary key,
        category text not null,
        severity bigint not null,
        state text not null,
        reports bigint not null,
        opened_at_ms bigint not null,
        due_at_ms bigint not null,
        decided_at_ms bigint not null,
        month text not null
      )`,
      'create index cases_by_state on cases (state, severity, due_at_ms)',
    ],
  },
  {
    name: '007-deletions',
    statements: [
      // Images that their keys deleted: a backup from before must not bring them back.
      'create table deletions (id text not null primary key, deleted_at_ms bigint not null)',
    ],
  },
  {
    name: '008-door',
    statements: [
      `create table door_tokens (
        sha256 text not null primary key,
        kind text not null,
        who text not null,
        expires_at_ms bigint not null,
        ends_at_ms bigint not null
      )`,
    ],
  },
  {
    name: '009-notices',
    statements: [
      // What the operator is to be told: a row a kind. `count`: what arose since the last was told. `claim` and
      // `due_at_ms` as of purges; when all is told, what arises next is told from `due_at_ms` on.
      `create table notices (
        kind text not null primary key,
        id text not null,
        count bigint not null check (count >= 0),
        since_ms bigint not null,
        attempts bigint not null,
        claim bigint not null,
        due_at_ms bigint not null
      )`,
    ],
  },
  {
    name: '010-decisions',
    statements: [
      // `was_visible`: it went out of sight with the decision. `claim` and `due_at_ms` as of purges.
      `create table decisions (
        id text not null primary key,
        batch text not null,
        act text not null,
        block bigint not null,
        was_visible bigint not null,
        reason text not null,
        who text not null,
        rule text not null,
        decided_at_ms bigint not null,
        claim bigint not null,
        due_at_ms bigint not null
      )`,
      'create index decisions_by_batch on decisions (batch)',
      // The rule that was broken: the public is told.
      "alter table removals add column rule text not null default ''",
      "alter table holds add column rule text not null default ''",
      // `mark`: of the call that wrote the row.
      "alter table caps_reached add column mark text not null default ''",
      // What is so now, and was told when it began.
      'create table conditions (name text not null primary key, since_ms bigint not null, mark text not null)',
    ],
  },
  {
    name: '011-held',
    statements: [
      // Of `used`: those that are neither given back nor known to have become images. Of an older server none.
      'alter table places add column held bigint not null default 0',
      'alter table places add column held_at_ms bigint not null default 0',
    ],
  },
  {
    name: '012-links',
    statements: [
      // In place of `uploads`, which older servers go on writing to. An index by id or tag would cost each upload a page.
      `create table links (at_ms bigint not null, number bigint not null, id text not null, tag_a text not null,
        tag_b text not null)`,
      'create index links_by_time on links (at_ms)',
    ],
  },
  DIGESTS_MIGRATION,
  REPORT_BUDGETS,
  PRIVATE,
  TOMBSTONES_MIGRATION,
]
