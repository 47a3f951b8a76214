/** A ledger in D1: one database, emptied between cases. */
import type { D1Binding } from '../../../src/stores/d1/binding.ts'
import { openD1Ledger } from '../../../src/stores/d1/ledger.ts'
import { r2Salts } from '../../../src/stores/r2/salts.ts'

import { CREATE_MIGRATIONS, LIST_MIGRATIONS, pendingStatements } from '../../../src/stores/sql/schema.ts'

import type { LedgerUnderTest } from '../../contracts/ledger.ts'

import type { Bindings } from './bindings.ts'

let serial = 0

/** The way from this process to workerd fails with more than some hundred calls at once. */
const inTurn = limited(16)

function limited(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}

/** Makes the tables of this version, where there are none. */
export async function migrate(database: D1Binding): Promise<void> {
  await database.batch([database.prepare(CREATE_MIGRATIONS)])
  const { results } = await database.prepare(LIST_MIGRATIONS).all()
  const statements = pendingStatements(
    results.map(({ name }) => String(name)),
    'sqlite',
  )
  if (statements.length === 0) return
  await database.batch(statements.map((statement) => database.prepare(statement)))
}

export async function openD1UnderTest({ database, salts }: Bindings): Promise<LedgerUnderTest> {
  await migrate(database)
  const prefix = `run-${++serial}/`
  let isAway = false
  const away = () => {
    if (isAway) throw new Error('D1_ERROR: Network connection lost.')
  }
  type Bound = ReturnType<D1Binding['prepare']> & { made(): ReturnType<D1Binding['prepare']> }
  // Prepared when it is its turn: each preparation is a call to workerd of its own, and one that waits.
  const bound = (sql: string, values: (string | number)[]): Bound => {
    const made = () => database.prepare(sql).bind(...values)
    return {
      made,
      bind: (...given: (string | number)[]) => bound(sql, given),
      all: () => {
        away()
        return inTurn(() => made().all())
      },
    } as Bound
  }
  const interruptible: D1Binding = {
    prepare: (sql) => bound(sql, []),
    async batch(statements) {
      away()
      return inTurn(() => database.batch(statements.map((each) => (each as Bound).made())))
    },
  }
  const interruptibleSalts = new Proxy(salts, {
    get:
      (target, name) =>
      async (...given: never[]) => {
        away()
        return (target[name as keyof typeof salts] as (...given: never[]) => unknown)(...given)
      },
  })
  return {
    open: () => openD1Ledger({ database: interruptible, salts: r2Salts(interruptibleSalts, prefix) }),
    async interrupt() {
      isAway = true
      return async () => {
        isAway = false
      }
    },
    async destroy() {
      isAway = false
      // Emptied, not dropped: to make its tables again would take longer than most cases.
      const { results } = await database.prepare("select name from sqlite_schema where type = 'table'").all()
      const tables = results.map(({ name }) => String(name))
      const ours = tables.filter((name) => !/^(_cf|sqlite|migrations)/.test(name))
      await database.batch(ours.map((name) => database.prepare(`delete from "${name}"`)))
    },
  }
}
