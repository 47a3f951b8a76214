/** Migrations of the ledger, in the SQL that SQLite and Postgres share. Never edit a released migration; append a new one. */

import { type MigrationName, missingMigrations } from './migrations.ts'

interface Migration {
  readonly statements: readonly string[]
  /** Only for Postgres, after `statements`. */
  readonly postgres?: readonly string[]
}

/**
 * Partitions a table by day, so that dropping a day's partition deletes its files. Existing rows, and those of days without a
 * partition, are in `…_other`. Servers of the previous version keep using the table's name.
 */
const partitionByDay = (table: string, key: string) => [
  `alter table ${table} rename to ${table}_other`,
  `create table ${table} (like ${table}_other including defaults including constraints) partition by list (day)`,
  `alter table ${table} add primary key (day, ${key})`,
  `alter table ${table} attach partition ${table}_other default`,
]

const MIGRATIONS: Record<MigrationName, Migration> = {
  '001-ledger': {
    statements: [
      // Uploads used by one bucket on one day. Days are YYYY-MM-DD, UTC.
      `create table places (
        day text not null,
        bucket text not null,
        used bigint not null check (used >= 0),
        primary key (day, bucket)
      )`,
      // 32 bytes in hex: the binary types of SQLite and Postgres have different names.
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
      // `number` is random; `recorded_us` orders acts of the same millisecond.
      `create table acts (
        number text not null primary key,
        at_ms bigint not null,
        recorded_us bigint not null,
        act text not null check (act in ('remove', 'block', 'unblock')),
        subject text not null,
        reason text not null
      )`,
      'create index acts_by_time on acts (at_ms, recorded_us)',
      // One pending purge per image. `claim`: token of the last claim, 0 if there is none or the purge was enqueued again: an
      // older claim is stale. `due_at_ms`: not to be claimed before; while claimed, the end of the lease.
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
  '002-instance': {
    statements: [
      'create table facts (name text not null primary key, value text not null)',
      // Token buckets. `full_at_ms`: when the bucket is full again.
      'create table turns (name text not null primary key, full_at_ms bigint not null)',
    ],
  },
  '003-operator': {
    statements: [
      // SQLite can't alter a check: the table is rebuilt. Defaults, as a server of the previous version may still write to it.
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
      // Pending moves. `wanted`: `held`, `visible` or `removed`. `version`: of the act that queued the move. `claim` and
      // `due_at_ms`: as in `purges`.
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
  '004-refusals': {
    statements: [
      'alter table places add column refusals bigint not null default 0',
      'alter table places add column refused_bytes bigint not null default 0',
    ],
  },
  '005-capacity': {
    statements: [
      // Used capacity of the instance and of networks. Days are YYYY-MM-DD, UTC.
      `create table shares (
        day text not null,
        name text not null,
        used bigint not null check (used >= 0),
        primary key (day, name)
      )`,
      'create table caps_reached (day text not null, name text not null, primary key (day, name))',
      // Links uploads by one uploader, for two days. Tags are HMACs of the address under salts valid for 48 hours, `tag_a`
      // under salts that start on even days.
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
  '006-reports': {
    statements: [
      // `reporter`: an HMAC under the day's salt, later the report's own number. `receipt_sha256`: of a secret known only to
      // the reporter.
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
      // All reports of one image. `decided_at_ms`: 0 while undecided.
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
  '007-deletions': {
    statements: [
      // Images deleted with their keys: an older backup must not bring them back.
      'create table deletions (id text not null primary key, deleted_at_ms bigint not null)',
    ],
  },
  '008-door': {
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
  '009-notices': {
    statements: [
      // Notices for the operator, one row per kind. `count`: events since the last delivered notice. `claim` and `due_at_ms`:
      // as in `purges`; while `count` is 0, the next notice is due no earlier than `due_at_ms`.
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
  '010-decisions': {
    statements: [
      // `was_visible`: 1 if the decision hid the image. `claim` and `due_at_ms`: as in `purges`.
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
      // The rule that was broken; shown to the public.
      "alter table removals add column rule text not null default ''",
      "alter table holds add column rule text not null default ''",
      // `mark`: identifies the call that wrote the row.
      "alter table caps_reached add column mark text not null default ''",
      // Active alerts that the operator has been notified of.
      'create table conditions (name text not null primary key, since_ms bigint not null, mark text not null)',
    ],
  },
  '011-held': {
    statements: [
      // Part of `used`: reservations not yet confirmed or released; 0 on rows of older versions.
      'alter table places add column held bigint not null default 0',
      'alter table places add column held_at_ms bigint not null default 0',
    ],
  },
  '012-links': {
    statements: [
      // Replaces `uploads`, which older servers still write to. An index on ID or tags would cost each upload a page write.
      `create table links (at_ms bigint not null, number bigint not null, id text not null, tag_a text not null,
        tag_b text not null)`,
      'create index links_by_time on links (at_ms)',
    ],
  },
  '013-digests': {
    statements: [
      // Verdicts on an image apply to its bytes. Digests of held images, as stored and as sent, in lower-case hex; empty if an
      // older server wrote the row. `gone`: 1 if the image was deleted while its case is still open.
      "alter table holds add column sha256 text not null default ''",
      "alter table holds add column sent_sha256 text not null default ''",
      'alter table holds add column gone bigint not null default 0',
      'create index holds_by_sha256 on holds (sha256)',
      'create index holds_by_sent_sha256 on holds (sent_sha256)',
      // SHA-256 of the stored bytes that the operator kept.
      "alter table cases add column kept_sha256 text not null default ''",
    ],
  },
  '014-report-budgets': {
    statements: [
      // Reports filed per budget and day. Buckets of addresses and networks are HMACs under the day's salt.
      `create table report_budgets (
        day text not null,
        bucket text not null,
        used bigint not null,
        primary key (day, bucket)
      )`,
      // 1 while all reports came from networks that exceeded their budget.
      'alter table cases add column crowded bigint not null default 0',
      // When the image was found missing; 0 if it was not.
      'alter table cases add column image_gone_at_ms bigint not null default 0',
      // Number of the report that opened the case or gave it its severity: only that report raises a notice.
      "alter table cases add column named_by text not null default ''",
      `create index cases_by_rank on cases
        (state, (case when image_gone_at_ms > 0 then 2 else crowded end), severity, due_at_ms, id)`,
      'drop index cases_by_state',
      // Budgets have their own table, so reports no longer need anything derived from an address.
      'update reports set reporter = number',
    ],
  },
  '015-private': {
    // SQLite keeps them in separate files, which no statement can create: `stores/sqlite/extract-private.ts`.
    statements: [],
    postgres: [
      // Moves HMACs of addresses to separate tables (docs/decisions/037).
      // Unlogged: in no write-ahead log and no base backup. A crash empties the table; servers restore the salts they know.
      'alter table salts set unlogged',
      'alter table salts alter column salt set statistics 0',
      // Digests of salts, to check whether a salt is the one that other servers use.
      'create table salt_marks (day text not null primary key, mark text not null)',
      "insert into salt_marks select day, encode(sha256(convert_to(salt, 'UTF8')), 'hex') from salts",
      ...partitionByDay('places', 'bucket'),
      ...partitionByDay('shares', 'name'),
      ...partitionByDay('report_budgets', 'bucket'),
      'insert into links (at_ms, number, id, tag_a, tag_b) select at_ms, 0, id, tag_a, tag_b from uploads',
      'drop table uploads',
      'alter table links rename to links_other',
      'alter index links_by_time rename to links_other_by_time',
      'create table links (like links_other including defaults) partition by range (at_ms)',
      'create index links_by_time on links (at_ms)',
      'alter table links attach partition links_other default',
    ],
  },
  '016-tombstones': {
    statements: [
      // Changes not yet written to the second location, pending since `since_ms`. `claim` and `due_at_ms`: as in `purges`.
      `create table tombstones (
        number text not null primary key,
        at_ms bigint not null,
        recorded_us bigint not null,
        act text not null,
        subject text not null,
        rule text not null,
        sha256 text not null,
        sent_sha256 text not null,
        since_ms bigint not null,
        claim bigint not null,
        due_at_ms bigint not null
      )`,
      'create index tombstones_by_due_time on tombstones (due_at_ms)',
    ],
  },
  '017-names': {
    statements: [
      'alter table acts rename to audit_log',
      'drop index acts_by_time',
      'create index audit_log_by_time on audit_log (at_ms, recorded_us)',
      'alter table conditions rename to active_alerts',
      'alter table door_tokens rename to admin_tokens',
    ],
    // For servers of 0.1.0 that keep running alongside newer ones. SQLite only migrates while no server is running.
    postgres: [
      'create view acts as select * from audit_log',
      'create view conditions as select * from active_alerts',
      'create view door_tokens as select * from admin_tokens',
    ],
  },
  '018-expiries': {
    statements: [
      // Expiring images. `claim` and `due_at_ms`: as in `purges`; `due_at_ms` is initially `expires_at_ms`.
      `create table expiries (
        id text not null primary key,
        expires_at_ms bigint not null,
        claim bigint not null,
        due_at_ms bigint not null
      )`,
      'create index expiries_by_due_time on expiries (due_at_ms)',
    ],
  },
  '019-scans': {
    statements: [
      // Images waiting to be scanned. `is_hidden`: 1 while the image is not shown. `claim` and `due_at_ms`: as in `purges`.
      `create table scans (
        id text not null primary key,
        since_ms bigint not null,
        is_hidden bigint not null,
        attempts bigint not null,
        claim bigint not null,
        due_at_ms bigint not null
      )`,
      'create index scans_by_due_time on scans (due_at_ms)',
    ],
  },
  '020-collation': {
    statements: [],
    postgres: [
      // IDs are read in the order of their code units, as SQLite sorts all text. Rebuilds the indexes, not the tables.
      'alter table deletions alter column id type text collate "C"',
      'alter table removals alter column id type text collate "C"',
    ],
  },
}

/** Statements of all migrations that create or alter these tables, for a file that has no others. */
export function statementsOf(tables: readonly string[]): string[] {
  const definesTable = new RegExp(`^(create table|alter table|create index \\w+ on) (${tables.join('|')}) `)
  return Object.values(MIGRATIONS).flatMap(({ statements }) =>
    statements.filter((statement) => definesTable.test(statement)),
  )
}

/** Run this in the same transaction as the migrations, under a lock that keeps other processes from migrating. */
export const CREATE_MIGRATIONS = 'create table if not exists migrations (name text not null primary key)'

/** Migrations not yet applied. Throws if the ledger was written by a newer version of Pinhole. */
export function pendingMigrations(
  applied: readonly string[],
  technology: 'sqlite' | 'postgres',
): { name: string; statements: string[] }[] {
  return missingMigrations(applied).map((name) => {
    const { statements, postgres = [] } = MIGRATIONS[name]
    return {
      name,
      statements: [
        ...statements,
        ...(technology === 'postgres' ? postgres : []),
        `insert into migrations (name) values ('${name}')`,
      ],
    }
  })
}
