/** A ledger in D1. All cases share one database, which is emptied in between. */
import type { D1Binding } from '../../../src/stores/d1/binding.ts'
import { openD1Ledger } from '../../../src/stores/d1/ledger.ts'
import { r2Salts } from '../../../src/stores/r2/salts.ts'
import { LIST_MIGRATIONS } from '../../../src/stores/sql/migrations.ts'
import { CREATE_MIGRATIONS, pendingMigrations } from '../../../src/stores/sql/schema.ts'
import type { LedgerUnderTest } from '../../contracts/ledger.ts'
import type { Bindings } from './bindings.ts'

let serial = 0

/** Names of the ledger's tables. */
export async function tablesOf(database: D1Binding): Promise<string[]> {
  const { results } = await database.prepare("select name from sqlite_schema where type = 'table'").all()
  return results.map(({ name }) => String(name)).filter((name) => !/^(_cf|sqlite)_/.test(name))
}

/** Applies pending migrations. */
export async function migrate(database: D1Binding): Promise<void> {
  await database.batch([database.prepare(CREATE_MIGRATIONS)])
  const { results } = await database.prepare(LIST_MIGRATIONS).all()
  const applied = results.map(({ name }) => String(name))
  const statements = pendingMigrations(applied, 'sqlite').flatMap(({ statements }) => statements)
  if (statements.length === 0) return
  await database.batch(statements.map((statement) => database.prepare(statement)))
}

export async function openD1UnderTest({ database, salts }: Bindings): Promise<LedgerUnderTest> {
  await migrate(database)
  const prefix = `run-${++serial}/`
  let isInterrupted = false
  const assertConnected = () => {
    if (isInterrupted) throw new Error('D1_ERROR: Network connection lost.')
  }
  const interruptible: D1Binding = {
    prepare(sql) {
      assertConnected()
      return database.prepare(sql)
    },
    async batch(statements) {
      assertConnected()
      return database.batch(statements)
    },
  }
  const interruptibleSalts = new Proxy(salts, {
    get:
      (target, name) =>
      async (...args: never[]) => {
        assertConnected()
        return (target[name as keyof typeof salts] as (...args: never[]) => unknown)(...args)
      },
  })
  return {
    open: async () => openD1Ledger({ database: interruptible, salts: r2Salts(interruptibleSalts, prefix) }),
    async interrupt() {
      isInterrupted = true
      return async () => {
        isInterrupted = false
      }
    },
    async destroy() {
      isInterrupted = false
      // Emptied rather than dropped: recreating the tables would take longer than most cases.
      const tables = (await tablesOf(database)).filter((name) => name !== 'migrations')
      await database.batch(tables.map((name) => database.prepare(`delete from "${name}"`)))
    },
  }
}
