/** Failover of Postgres: the primary is lost permanently, and its standby replaces it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { sleep } from '../../src/async.ts'
import type { Ledger } from '../../src/stores/ledger.ts'
import { openPostgresLedger } from '../../src/stores/postgres/ledger.ts'
import type { Answer } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type Cluster, s3Env, startCluster } from '../support/processes/cluster.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../support/processes/postgres.ts'
import type { Env } from '../support/processes/process.ts'
import { type FakeS3, startFakeS3 } from '../support/s3/fake-s3.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { PATIENT_MS, until } from '../support/until.ts'
import { fetchRaw, post, remove } from '../support/upload.ts'

const ADDRESSES = Array.from({ length: 6 }, (_, index) => `198.51.102.${index}`)
const LIMIT = 40

describe('synchronous standby', { skip: whyNoPostgres() }, () => {
  let fake: FakeS3
  let system: System
  before(async () => {
    fake = await startFakeS3()
    system = await startSystem(s3Env(fake, 'pictures/'))
    await set(system.primary, "synchronous_standby_names = '*'")
  })
  after(async () => {
    await system?.stop()
    await fake?.close()
  })

  it('acknowledges no changes while the standby is down, but keeps serving images', async () => {
    const { standby, servers, ledger } = system
    const url = servers[0]!.url
    const stored = await post(url, gif(), '198.51.103.1')
    assert.equal(stored.status, 201)
    await standby.stop()
    assert.equal((await post(url, gif(), '198.51.103.1')).status, 503)
    await assert.rejects(ledger.block(['c'.repeat(64)], 'a drill', new Date()))
    assert.equal((await fetchRaw(url, stored.json().id)).status, 200)
    await standby.start()
    await until('uploads are accepted', async () => (await post(url, gif(), '198.51.103.1')).status === 201)
  })

  it('loses no acknowledged change when the standby replaces the primary', async (t) => {
    const { primary, servers, ledger } = system
    const answersOf = new Map<string, Answer[]>(ADDRESSES.map((from) => [from, []]))
    const deleted: string[] = []
    const blocked: string[] = []
    let isOver = false
    t.after(() => {
      isOver = true
    })
    const loads = ADDRESSES.map(async (from, index) => {
      const url = servers[index % servers.length]!.url
      while (!isOver) {
        const answer = await post(url, gif(), from)
        answersOf.get(from)!.push(answer)
        if (answer.status !== 201) await sleep(50)
        else if (answersOf.get(from)!.length % 4 === 0) {
          const { id, key } = answer.json()
          if ((await remove(url, key)).status === 200) deleted.push(id)
        }
      }
    })
    loads.push(
      (async () => {
        while (!isOver) {
          const digest = randomBytes(32).toString('hex')
          await ledger.block([digest], 'a drill', new Date()).then(
            () => blocked.push(digest),
            () => sleep(50),
          )
          await sleep(5)
        }
      })(),
    )
    await until('some of each', () => deleted.length > 10 && blocked.length > 50)
    await primary.crash()
    await until('the outage is noticed', () =>
      [...answersOf.values()].some((answers) => answers.at(-1)?.status === 503),
    )
    const before = blocked.length
    await system.failOver()
    // A reservation pending when the primary died counts for 15 minutes: the last uploads of its address get `busy`.
    const isUsedUp = (answer?: Answer) => answer?.status === 429 || answer?.json().error === 'busy'
    await until(
      'all addresses have used up their quota, and blocks succeed again',
      () => ADDRESSES.every((from) => isUsedUp(answersOf.get(from)!.at(-1))) && blocked.length > before + 10,
      2 * PATIENT_MS,
    )
    isOver = true
    await Promise.all(loads)

    for (const [from, answers] of answersOf) {
      const stored = answers.filter(({ status }) => status === 201)
      assert.ok(stored.length <= LIMIT, `${from}: ${stored.length} uploads`)
      const others = answers.filter(({ status }) => ![201, 429, 503].includes(status))
      assert.deepEqual(others, [])
      for (const answer of stored) {
        const { id } = answer.json()
        const { status } = await fetchRaw(servers[0]!.url, id)
        assert.equal(status, deleted.includes(id) ? 404 : 200, id)
      }
    }
    for (const digest of blocked) assert.equal(await ledger.withheldReason([digest]), 'blocked')
  })
})

describe('lagging standby', { skip: whyNoPostgres() }, () => {
  it('loses the latest acknowledged change (control experiment)', async (t) => {
    const system = await startSystem()
    t.after(() => system.stop())
    const { primary, standby, ledger } = system
    await ledger.block(['a'.repeat(64)], 'a drill', new Date())
    await until('the standby has caught up', async () => {
      const [row] = await primary.query(
        'select replay_lsn = pg_current_wal_lsn() as caught from pg_stat_replication',
      )
      return row?.caught === true
    })
    await set(standby, "primary_conninfo = ''")
    await until(
      'replication has stopped',
      async () => (await primary.query('select 1 from pg_stat_replication')).length === 0,
    )
    await ledger.block(['b'.repeat(64)], 'a drill', new Date())
    await primary.crash()
    await system.failOver()
    const withheld = (digest: string) => ledger.withheldReason([digest]).catch(() => 'unavailable')
    await until('the ledger recovers', async () => (await withheld('a'.repeat(64))) === 'blocked')
    assert.equal(await withheld('b'.repeat(64)), null)
  })
})

interface System {
  primary: PostgresServer
  standby: PostgresServer
  servers: Cluster['servers']
  ledger: Ledger
  /** Promotes the standby, and makes it reachable under the primary's address. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** `env`: environment of the servers. Without it none are started. */
async function startSystem(env?: Env): Promise<System> {
  // If starting a component fails, stops those already running.
  await using started = new AsyncDisposableStack()
  const primary = started.adopt(await startPostgres(), (each) => each.destroy())
  const standby = started.adopt(await primary.startStandby(), (each) => each.destroy())
  let proxy = await startTcpProxy(primary.port)
  started.defer(() => proxy.close())
  const url = (await primary.createSchema()).replace(`:${primary.port}/`, `:${proxy.port}/`)
  const common = { ...env, LEDGER_URL: url, UPLOADS_PER_DAY: `${LIMIT}`, LOG_LEVEL: 'error' }
  const cluster = env && started.adopt(await startCluster(common, [{}, {}]), (each) => each.stop())
  const ledger = started.adopt(await openPostgresLedger({ url }), (each) => each.close())
  const all = started.move()
  return {
    primary,
    standby,
    servers: cluster?.servers ?? [],
    ledger,
    async failOver() {
      await standby.query('select pg_promote()')
      await proxy.close()
      proxy = await startTcpProxy(standby.port, { port: proxy.port })
    },
    stop: () => all.disposeAsync(),
  }
}

async function set(postgres: PostgresServer, to: string): Promise<void> {
  await postgres.query(`alter system set ${to}`)
  await postgres.query('select pg_reload_conf()')
}
