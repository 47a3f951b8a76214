/**
 * What servers ask of Postgres while nothing happens, and what that costs it: processor time of its backends.
 *
 * A statement a second of one server, by how often `src/service` looks: settings each 400 ms, purges each second where a
 * cache is in front, notices each second where somebody is to be told, moves each 5 s, the clock each 30 s.
 */
import type { Ledger } from '../../src/stores/ledger.ts'
import { openPostgresLedger } from '../../src/stores/postgres/ledger.ts'
import { type PostgresServer, startPostgres } from '../../test/support/processes/postgres.ts'
import { processorTime } from '../load/processors.ts'
import type { Measure } from '../report/figures.ts'

const TIMES = 10_000
const SERVERS = 1000
const LEASE_MS = 30_000

const POLLS: { name: string; perSecond: number; ask: (ledger: Ledger) => Promise<unknown> }[] = [
  { name: 'settings', perSecond: 2.5, ask: (ledger) => ledger.settings() },
  { name: 'purges due, with a cache', perSecond: 1, ask: (ledger) => ledger.isPurgeDue(Date.now()) },
  { name: 'notices due, if told', perSecond: 1, ask: (ledger) => ledger.claimNotices(Date.now(), LEASE_MS) },
  { name: 'moves due', perSecond: 0.2, ask: (ledger) => ledger.claimMoves(10, Date.now(), LEASE_MS) },
  { name: 'the clock', perSecond: 1 / 30, ask: (ledger) => ledger.time() },
]

export async function measurePolls(): Promise<Measure[]> {
  const postgres = await startPostgres({ flushes: true })
  const ledger = await openPostgresLedger({ url: await postgres.createSchema() })
  const measures: Measure[] = []
  let processors = 0
  try {
    for (const { name, perSecond, ask } of POLLS) {
      await poll(ledger, ask, 500)
      const before = await backendTime(postgres)
      await poll(ledger, ask, TIMES)
      const microseconds = ((await backendTime(postgres)) - before) / TIMES
      processors += (microseconds * perSecond * SERVERS) / 1e6
      measures.push({
        what: `Postgres, ${name}: processor time of a statement`,
        values: [microseconds],
        unit: 'µs',
      })
    }
  } finally {
    await ledger.close()
    await postgres.destroy()
  }
  const what = `Postgres, ${SERVERS} servers that do nothing, processors`
  measures.push({ what, values: [processors], unit: '' })
  return measures
}

/** Polls, as many at once as a server has connections. */
async function poll(ledger: Ledger, ask: (ledger: Ledger) => Promise<unknown>, times: number): Promise<void> {
  let left = times
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      while (left-- > 0) await ask(ledger)
    }),
  )
}

/** Processor time of the backends of all servers so far. Unit: microseconds. */
async function backendTime(postgres: PostgresServer): Promise<number> {
  const rows = await postgres.query("select pid from pg_stat_activity where application_name = 'pinhole'")
  return rows.reduce((sum, { pid }) => sum + processorTime(Number(pid)), 0)
}
