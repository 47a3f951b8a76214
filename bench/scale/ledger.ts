/** A ledger of many rows, in SQLite and in Postgres: size, what each upload and view asks of it, and the day's end. */
import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { newId } from '../../src/service/images/ids.ts'
import type { Ledger } from '../../src/stores/ledger.ts'
import { openPostgresLedger } from '../../src/stores/postgres/ledger.ts'
import { pragma } from '../../src/stores/sqlite/connection.ts'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { startPostgres } from '../../test/support/processes/postgres.ts'
import type { Measure } from '../report/figures.ts'
import { percentiles, timed } from './images.ts'

const OLD_DAY = '2026-07-28'
const DAY = '2026-07-31'
const TIMES = 2000

const RESERVATIONS = `insert into places (day, bucket, used)`
const REMOVALS = `insert into removals (id, removed_at_ms)`

export async function measureLedgers(dir: string, rows: number): Promise<Measure[]> {
  return [...(await inSqlite(path.join(dir, 'ledger.sqlite'), rows)), ...(await inPostgres(rows))]
}

async function inSqlite(file: string, rows: number): Promise<Measure[]> {
  await (await openSqliteLedger({ file })).close()
  const database = new DatabaseSync(file)
  const emptyBytes = (await stat(file)).size
  const many = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})`
  const hex = `lower(hex(randomblob(16)))`
  const measureFill = async (sql: string) => {
    const before = pragma(database, 'page_count') as number
    database.exec(sql)
    const pages = (pragma(database, 'page_count') as number) - before
    return (pages * (pragma(database, 'page_size') as number)) / rows
  }
  const reservation = await measureFill(`${RESERVATIONS} ${many} select '${OLD_DAY}', ${hex}, 3 from n`)
  const removal = await measureFill(`${REMOVALS} ${many} select substr(${hex}, 1, 11), i from n`)
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
  console.error(`    SQLite: ${Math.round(((await stat(file)).size - emptyBytes) / 1e6)} MB`)
  const startedAt = performance.now()
  const ledger = await openSqliteLedger({ file })
  const openMs = performance.now() - startedAt
  try {
    return [...sizes('SQLite', reservation, removal, openMs), ...(await measureUse('SQLite', ledger, rows))]
  } finally {
    await ledger.close()
  }
}

async function inPostgres(rows: number): Promise<Measure[]> {
  const postgres = await startPostgres({ flushes: true })
  const url = await postgres.createSchema()
  await (await openPostgresLedger({ url })).close()
  const owner = new Client({ connectionString: url })
  await owner.connect()
  const hex = `encode(uuid_send(gen_random_uuid()), 'hex')`
  const many = `from generate_series(1, ${rows}) as n(i)`
  const bytesEach = async (table: string) => {
    await owner.query(`vacuum analyze ${table}`)
    const { rows: found } = await owner.query(`select pg_total_relation_size('${table}') as bytes`)
    return Number(found[0].bytes) / rows
  }
  try {
    await owner.query(`${RESERVATIONS} select '${OLD_DAY}', ${hex}, 3 ${many}`)
    await owner.query(`${REMOVALS} select substr(${hex}, 1, 11), i ${many}`)
    const reservation = await bytesEach('places')
    const removal = await bytesEach('removals')
    const startedAt = performance.now()
    const ledger = await openPostgresLedger({ url })
    const openMs = performance.now() - startedAt
    const measures = await measureUse('Postgres', ledger, rows)
    await ledger.close()
    return [...sizes('Postgres', reservation, removal, openMs), ...measures]
  } finally {
    await owner.end()
    await postgres.destroy()
  }
}

function sizes(name: string, reservation: number, removal: number, openMs: number): Measure[] {
  return [
    { what: `${name}: a reservation, with its index`, values: [reservation], unit: 'bytes' },
    { what: `${name}: a removal, with its index`, values: [removal], unit: 'bytes' },
    { what: `${name}: open`, values: [openMs], unit: 'ms' },
  ]
}

async function measureUse(name: string, ledger: Ledger, rows: number): Promise<Measure[]> {
  const bucket = () => randomBytes(16).toString('hex')
  const reserve = await timed(TIMES, () => ledger.reserveUpload(bucket(), DAY, 100))
  const blocked = await timed(TIMES, () => ledger.whyWithheld([bucket() + bucket()]))
  const removed = await timed(TIMES, () => ledger.whyAbsent(newId()))
  const counts = await timed(3, () => ledger.counts())
  const startedAt = performance.now()
  let isForgetting = true
  const forgetting = ledger.forgetDaysBefore(DAY).finally(() => {
    isForgetting = false
  })
  const meanwhile: number[] = []
  do meanwhile.push(...(await timed(20, () => ledger.reserveUpload(bucket(), DAY, 100))))
  while (isForgetting)
  await forgetting
  const forgetSeconds = (performance.now() - startedAt) / 1000
  return [
    ...percentiles(`${name}: reserve an upload`, reserve),
    ...percentiles(`${name}: is a digest blocked`, blocked),
    ...percentiles(`${name}: was an image removed`, removed),
    { what: `${name}: count all (operator status)`, values: counts, unit: 'ms' },
    {
      what: `${name}: forget a day of ${rows.toLocaleString('en')} addresses`,
      values: [forgetSeconds],
      unit: 's',
    },
    ...percentiles(
      `${name}: reserve an upload meanwhile`,
      meanwhile.toSorted((a, b) => a - b),
    ),
  ]
}
