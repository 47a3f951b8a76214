/** A ledger of many rows in Postgres: what each takes, with its index. */
import { Client } from 'pg'
import { openPostgresLedger } from '../../src/stores/postgres/ledger.ts'
import { startPostgres } from '../../test/support/processes/postgres.ts'
import type { Measure } from '../report/figures.ts'

export async function measureLedger(_: string, rows: number): Promise<Measure[]> {
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
    return [Number(found[0].bytes) / rows]
  }
  try {
    await owner.query(`insert into places (day, bucket, used) select '2026-07-28', ${hex}, 3 ${many}`)
    await owner.query(`insert into removals (id, removed_at_ms) select substr(${hex}, 1, 11), i ${many}`)
    return [
      { what: 'a reservation in Postgres', values: await bytesEach('places'), unit: 'bytes' },
      { what: 'a removal in Postgres', values: await bytesEach('removals'), unit: 'bytes' },
    ]
  } finally {
    await owner.end()
    await postgres.destroy()
  }
}
