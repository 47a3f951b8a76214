/** The cost of each request: its calls to the object store and the ledger. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { s3Env } from './support/processes/cluster.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from './support/processes/postgres.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { type FakeS3, startFakeS3 } from './support/s3/fake-s3.ts'
import { type StatementLog, startStatementLog } from './support/statement-log.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, type Stored, store } from './support/upload.ts'

interface Cost {
  /** HTTP methods. */
  store: string[]
  /** The verb and table of each statement. */
  ledger: string[]
}

const UPLOADS_PER_DAY = 2

let addresses = 0
/** A new address with an unused quota. */
const newAddress = () => `198.51.100.${++addresses}`

let fake: FakeS3
let postgres: PostgresServer
let ledger: StatementLog
let server: RunningServer

const skip = whyNoPostgres()

before(async () => {
  if (skip !== false) return
  ;[fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
  const schema = new URL(await postgres.createSchema())
  ledger = await startStatementLog(Number(schema.port))
  schema.port = `${ledger.port}`
  server = await startServer({
    ...s3Env(fake, 'pictures'),
    LEDGER_URL: schema.href,
    UPLOADS_PER_DAY: `${UPLOADS_PER_DAY}`,
  })
  // A process's first upload of the day also reads the day's salt.
  await store(server.url, gif(), newAddress())
})
after(async () => {
  await server?.stop()
  await ledger?.close()
  await Promise.all([fake?.close(), postgres?.destroy()])
})

/** Prefixes of the statements of interval jobs, which may run at any time. */
const INTERVAL_JOBS = [
  'select name, since_ms from active_alerts order by name',
  'select count(*) as count, min(since_ms) as oldest from scans',
  'select min(due_at_ms) as due from expiries',
  'select * from cases where state in ',
]

/** Prefix of an upload's confirmation, which runs in the background and may come after the next request. */
const CONFIRMATION = 'update places set held = held - 1'

async function costOf(act: () => Promise<unknown>): Promise<Cost> {
  ledger.clear()
  fake.requests.length = 0
  await act()
  assert.equal(ledger.roundTrips(), ledger.statements.length, 'one round trip per statement')
  return {
    store: fake.requests.map(({ method }) => method),
    // Excludes periodic reads and cleanups.
    ledger: ledger.statements
      .filter((sql) => !sql.startsWith(CONFIRMATION))
      .filter((sql) => !INTERVAL_JOBS.some((prefix) => sql.startsWith(prefix)))
      .filter((sql) => !/ due_at_ms (<=|>) /.test(sql))
      .filter((sql) => !/ from settings |^delete from (places|salts|shares|links) /.test(`${sql} `))
      .map((sql) =>
        sql
          .replace(/^(\w+) .*?(?:from|into|update) (\w+).*$/s, '$1 $2')
          .replace(/^update (\w+).*$/s, 'update $1'),
      ),
  }
}

async function expectStatus(
  status: number,
  answer: Promise<{ status: number; text: string }>,
): Promise<void> {
  const { status: answered, text } = await answer
  assert.equal(answered, status, text)
}

const UPLOAD = ['with places', 'select blocks']

describe('an upload', { skip }, () => {
  for (const [name, size] of [
    ['from memory', 1000],
    ['from a file', 3_000_000],
  ] as const) {
    it(`costs one put and two statements: ${name}`, async () => {
      const cost = await costOf(() => store(server.url, gif({ size }), newAddress()))
      assert.deepEqual(cost, { store: ['PUT'], ledger: UPLOAD })
    })
  }

  it('is confirmed by one statement of its own', async () => {
    const confirmations = () => ledger.statements.filter((sql) => sql.startsWith(CONFIRMATION)).length
    const before = confirmations()
    for (let n = 0; n < 3; n++) await store(server.url, gif(), newAddress())
    // At least 3, as confirmations of earlier uploads may come late.
    await until('the three are confirmed', () => confirmations() >= before + 3)
  })

  it('costs no store call when refused, and releases its reservation', async () => {
    const cost = await costOf(() =>
      expectStatus(415, post(server.url, Buffer.from('no image'), newAddress())),
    )
    assert.deepEqual(cost, { store: [], ledger: ['with places', 'with places'] })
  })

  it('costs two statements when the quota is used up', async () => {
    const from = newAddress()
    for (let used = 0; used < UPLOADS_PER_DAY; used++) await store(server.url, gif(), from)
    // The first refusal waits until the stored uploads are confirmed. The next one need not.
    await expectStatus(429, post(server.url, gif(), from))
    const cost = await costOf(() => expectStatus(429, post(server.url, gif(), from)))
    assert.deepEqual(cost, { store: [], ledger: ['with places', 'select places'] })
  })
})

describe('everything else', { skip }, () => {
  const get = (path: string, headers = {}, method = 'GET') => request(server.url, method, path, { headers })

  const acts: Record<string, { act: (image: Stored) => Promise<unknown>; cost: Cost }> = {
    'GET of an image': {
      act: ({ id }) => expectStatus(200, fetchRaw(server.url, id)),
      cost: { store: ['GET'], ledger: [] },
    },
    'HEAD of an image': {
      act: ({ id }) => expectStatus(200, get(`/raw/${id}`, {}, 'HEAD')),
      cost: { store: ['GET'], ledger: [] },
    },
    'a conditional GET': {
      act: ({ id }) => expectStatus(304, get(`/raw/${id}`, { 'If-None-Match': '*' })),
      cost: { store: ['GET'], ledger: [] },
    },
    'a range request': {
      act: ({ id }) => expectStatus(206, get(`/raw/${id}`, { Range: 'bytes=0-9' })),
      cost: { store: ['GET'], ledger: [] },
    },
    'the page of an image': {
      act: ({ id }) => expectStatus(200, get(`/${id}`)),
      cost: { store: ['GET'], ledger: [] },
    },
    'an absent image': {
      act: () => expectStatus(404, fetchRaw(server.url, 'AAAAAAAAAAA')),
      cost: { store: ['GET'], ledger: ['select removals'] },
    },
    'an invalid ID': {
      act: () => expectStatus(404, get('/raw/short')),
      cost: { store: [], ledger: [] },
    },
    'the home page': {
      act: () => expectStatus(200, get('/')),
      cost: { store: [], ledger: [] },
    },
    'the readiness check': {
      act: () => expectStatus(200, get('/readyz')),
      cost: { store: ['PUT', 'DELETE'], ledger: ['insert facts'] },
    },
    // Two reads and a permanent marker, so that exactly one of several concurrent deletions succeeds.
    'a deletion': {
      act: ({ key }) => expectStatus(200, remove(server.url, key)),
      cost: { store: ['GET', 'GET', 'PUT'], ledger: ['with deletions'] },
    },
    'a deletion with a wrong key': {
      act: ({ id }) => expectStatus(404, remove(server.url, id + 'A'.repeat(32))),
      cost: { store: ['GET'], ledger: [] },
    },
  }
  for (const [name, { act, cost }] of Object.entries(acts)) {
    it(`has a fixed cost: ${name}`, async () => {
      const image = await store(server.url, gif(), newAddress())
      assert.deepEqual(await costOf(() => act(image)), cost)
    })
  }
})
