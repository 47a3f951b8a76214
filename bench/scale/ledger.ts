/** Disk space per row in `removals` in Postgres, including its index. These rows are kept forever. */
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
  const digits = `substr(encode(uuid_send(gen_random_uuid()), 'hex'), 1, 11)`
  try {
    await owner.query(
      `insert into removals (id, removed_at_ms) select ${digits}, i from generate_series(1, ${rows}) as n(i)`,
    )
    await owner.query('vacuum analyze removals')
    const { rows: found } = await owner.query(`select pg_total_relation_size('removals') as bytes`)
    return [{ label: 'a removal in Postgres', values: [Number(found[0].bytes) / rows], unit: 'bytes' }]
  } finally {
    await owner.end()
    await postgres.destroy()
  }
}
