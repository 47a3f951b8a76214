/** Brings the ledger's tables up to date. */
import { MIGRATIONS } from './schema.ts'

/** Run under a lock that keeps other processes from migrating, in the transaction of the migrations themselves. */
export const CREATE_MIGRATIONS = 'create table if not exists migrations (name text not null primary key)'

export const LIST_MIGRATIONS = 'select name from migrations'

/** What is left to run after the migrations named in `applied`. Throws if a newer Pinhole has written the ledger. */
export function pendingStatements(applied: readonly string[], technology: 'sqlite' | 'postgres'): string[] {
  return pendingMigrations(applied, technology).flatMap(({ statements }) => statements)
}

/** The same, each with its name. */
export function pendingMigrations(
  applied: readonly string[],
  technology: 'sqlite' | 'postgres',
): { name: string; statements: string[] }[] {
  const unknown = applied.filter((name) => !MIGRATIONS.some((migration) => migration.name === name))
  if (unknown.length > 0) {
    throw new Error(`the ledger was written by a newer version: it has ${unknown.join(', ')}`)
  }
  return MIGRATIONS.filter(({ name }) => !applied.includes(name)).map(
    ({ name, statements, postgres = [] }) => ({
      name,
      statements: [
        ...statements,
        ...(technology === 'postgres' ? postgres : []),
        `insert into migrations (name) values ('${name}')`,
      ],
    }),
  )
}
