/** Names of the migrations. Their SQL is in `schema.ts`, which a Worker doesn't load: it never creates tables. */

/** In the order of application. */
const MIGRATIONS = [
  '001-ledger',
  '002-instance',
  '003-operator',
  '004-refusals',
  '005-capacity',
  '006-reports',
  '007-deletions',
  '008-door',
  '009-notices',
  '010-decisions',
  '011-held',
  '012-links',
  '013-digests',
  '014-report-budgets',
  '015-private',
  '016-tombstones',
  '017-names',
  '018-expiries',
  '019-scans',
  '020-collation',
] as const

export type MigrationName = (typeof MIGRATIONS)[number]

export const LIST_MIGRATIONS = 'select name from migrations'

/** Migrations not yet applied. Throws if the ledger was written by a newer version of Pinhole. */
export function missingMigrations(applied: readonly string[]): MigrationName[] {
  const unknown = applied.filter((name) => !MIGRATIONS.some((known) => known === name))
  if (unknown.length > 0) {
    throw new Error(`the ledger was written by a newer version: it has ${unknown.join(', ')}`)
  }
  return MIGRATIONS.filter((name) => !applied.includes(name))
}
