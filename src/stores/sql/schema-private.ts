/** What is derived from addresses leaves the ledger's own tables (docs/decisions/064). */
import type { Migration } from './migration.ts'

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

export const PRIVATE: Migration = {
  name: '015-private',
  // In SQLite they go to files of their own, which no statement makes: `stores/sqlite/take-out.ts`.
  statements: [],
  postgres: [
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
}
