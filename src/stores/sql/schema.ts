/**
 * How the ledger's tables came to be, in the SQL that SQLite and Postgres share. A migration that was released
 * is never edited; the next one is added at the end.
 */

import { type MigrationName, missingMigrations } from './migrations.ts'

/** One step of the ledger's tables. */
interface Migration {
  readonly statements: readonly string[]
  /** What Postgres alone runs, after `statements`. */
  readonly postgres?: readonly string[]
}

/**
 * A table becomes one of parts, one for each day, so that a day goes with its files. The rows that were there, and those of
 * days that have no part, are in `…_other`. Servers of the version before go on by the table's name.
 */
const inDays = (table: string, key: string) => [
  `alter table ${table} rename to ${table}_other`,
  `create table ${table} (like ${table}_other including defaults including constraints) partition by list (day)`,
  `alter table ${table} add primary key (day, ${key})`,
  `alter table ${table} attach partition ${table}_other default`,
]

const MIGRATIONS: Record<MigrationName, Migration> = {
  '001-ledger': {
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
  '002-instance': {
    statements: [
      'create table facts (name text not null primary key, value text not null)',
      // `full_at_ms`: when as many turns as ever are free again.
      'create table turns (name text not null primary key, full_at_ms bigint not null)',
    ],
  },
  '003-operator': {
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
  '004-refusals': {
    statements: [
      'alter table places add column refusals bigint not null default 0',
      'alter table places add column refused_bytes bigint not null default 0',
    ],
  },
  '005-capacity': {
    statements: [
      // Caps of the instance, and of networks. Days are YYYY-MM-DD, UTC.
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
  '006-reports': {
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
  '007-deletions': {
    statements: [
      // Images that their keys deleted: a backup from before must not bring them back.
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
  '010-decisions': {
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
      // In place of `uploads`, which older servers go on writing to. An index by id or tag would cost each upload a page.
      `create table links (at_ms bigint not null, number bigint not null, id text not null, tag_a text not null,
        tag_b text not null)`,
      'create index links_by_time on links (at_ms)',
    ],
  },
  '013-digests': {
    statements: [
      // What was decided of an image is decided of its bytes. Digests are lower-case hex; empty where an older server wrote the row.
      // Digests of what is held, as stored and as sent. `gone`: 1 when the image is deleted and the case still open.
      "alter table holds add column sha256 text not null default ''",
      "alter table holds add column sent_sha256 text not null default ''",
      'alter table holds add column gone bigint not null default 0',
      'create index holds_by_sha256 on holds (sha256)',
      'create index holds_by_sent_sha256 on holds (sent_sha256)',
      // SHA-256 of the stored bytes that the operator decided to keep.
      "alter table cases add column kept_sha256 text not null default ''",
    ],
  },
  '014-report-budgets': {
    statements: [
      // What each budget of reports has spent of a day. Buckets of addresses and networks are HMACs under the day's salt.
      `create table report_budgets (
        day text not null,
        bucket text not null,
        used bigint not null,
        primary key (day, bucket)
      )`,
      // 1 while all that was said came from networks past their budget.
      'alter table cases add column crowded bigint not null default 0',
      // When the image was found to be gone; 0 if it was not.
      'alter table cases add column image_gone_at_ms bigint not null default 0',
      // The number of the report that opened the case or gave it its severity: it alone raises a notice.
      "alter table cases add column named_by text not null default ''",
      `create index cases_by_rank on cases
        (state, (case when image_gone_at_ms > 0 then 2 else crowded end), severity, due_at_ms, id)`,
      'drop index cases_by_state',
      // Budgets have their own table: reports hold nothing derived from an address any more.
      'update reports set reporter = number',
    ],
  },
  '015-private': {
    // In SQLite they go to files of their own, which no statement makes: `stores/sqlite/take-out.ts`.
    statements: [],
    postgres: [
      // Moves HMACs of addresses to tables of their own (docs/decisions/037).
      // In no log, and in no base backup. A crash empties it: servers put back what they know.
      'alter table salts set unlogged',
      'alter table salts alter column salt set statistics 0',
      // Digests of salts: whether a salt is the one that others use.
      'create table salt_marks (day text not null primary key, mark text not null)',
      "insert into salt_marks select day, encode(sha256(convert_to(salt, 'UTF8')), 'hex') from salts",
      ...inDays('places', 'bucket'),
      ...inDays('shares', 'name'),
      ...inDays('report_budgets', 'bucket'),
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
      // Changes that are still to be written to the second place, since `since_ms`. `claim` and `due_at_ms` as of purges.
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
    // For servers of 0.1.0 that go on beside newer ones. SQLite migrates while it has none.
    postgres: [
      'create view acts as select * from audit_log',
      'create view conditions as select * from active_alerts',
      'create view door_tokens as select * from admin_tokens',
    ],
  },
  '018-expiries': {
    statements: [
      // Images that expire. `claim` and `due_at_ms` as of purges; `due_at_ms` is first `expires_at_ms`.
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
      // Images that are still to be scanned. `is_hidden`: 1 while nobody is shown it. `claim` and `due_at_ms` as of purges.
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
}

/** The statements of all migrations that make these tables, for a file that has no others. */
export function statementsOf(tables: readonly string[]): string[] {
  const makesOne = new RegExp(`^(create table|alter table|create index \\w+ on) (${tables.join('|')}) `)
  return Object.values(MIGRATIONS).flatMap(({ statements }) =>
    statements.filter((statement) => makesOne.test(statement)),
  )
}

/** Run under a lock that keeps other processes from migrating, in the transaction of the migrations themselves. */
export const CREATE_MIGRATIONS = 'create table if not exists migrations (name text not null primary key)'

/** What is left to run after the migrations named in `applied`. Throws if a newer Pinhole has written the ledger. */
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
