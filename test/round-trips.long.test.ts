/** What each request costs: how often it asks the object store and the ledger. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { s3Env, serviceOf } from './support/processes/cluster.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from './support/processes/postgres.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { type FakeS3, startFakeS3 } from './support/s3/fake-s3.ts'
import { type StatementLog, startStatementLog } from './support/statement-log.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, type Stored, store } from './support/upload.ts'

/** As `METHOD`, or `METHOD bytes` for a put. */
interface Cost {
  store: string[]
  /** The first word and the table of each. */
  ledger: string[]
}

const UPLOADS_PER_DAY = 2

let people = 0
/** An address with a whole day's quota. */
const someone = () => `198.51.100.${++people}`

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
    ...s3Env(serviceOf(fake), 'pictures'),
    LEDGER_URL: schema.href,
    UPLOADS_PER_DAY: `${UPLOADS_PER_DAY}`,
  })
  // The first upload of a day and process asks for the day's salt.
  await store(server.url, gif(), someone())
})
after(async () => {
  await server?.stop()
  await ledger?.close()
  await Promise.all([fake?.close(), postgres?.destroy()])
})

/** How the looks of a process begin that it takes every few seconds for what is left undone. */
const ROUNDS = [
  'select name, since_ms from active_alerts order by name',
  'select count(*) as count, min(since_ms) as oldest from scans',
  'select min(due_at_ms) as due from expiries',
  'select * from cases where state in ',
]

/** How the confirmation of an upload begins, for which no answer waits: it may come after the next request. */
const CONFIRMATION = 'update places set held = held - 1'

async function costOf(act: () => Promise<unknown>): Promise<Cost> {
  ledger.clear()
  fake.requests.length = 0
  await act()
  assert.equal(ledger.roundTrips(), ledger.statements.length, 'one round trip a statement')
  return {
    store: fake.requests.map(({ method }) => method),
    // Each process asks for these now and then, and forgets what is past, whatever comes.
    ledger: ledger.statements
      .filter((sql) => !sql.startsWith(CONFIRMATION))
      .filter((sql) => !ROUNDS.some((round) => sql.startsWith(round)))
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
      const cost = await costOf(() => store(server.url, gif({ size }), someone()))
      assert.deepEqual(cost, { store: ['PUT'], ledger: UPLOAD })
    })
  }

  it('is confirmed by one statement of its own', async () => {
    const confirmations = () => ledger.statements.filter((sql) => sql.startsWith(CONFIRMATION)).length
    const before = confirmations()
    for (let n = 0; n < 3; n++) await store(server.url, gif(), someone())
    // Those of the uploads before are among the statements before, or come with these.
    await until('the three are confirmed', () => confirmations() >= before + 3)
  })

  it('costs the store nothing when it is refused, and gives its place back', async () => {
    const cost = await costOf(() => expectStatus(415, post(server.url, Buffer.from('no image'), someone())))
    assert.deepEqual(cost, { store: [], ledger: ['with places', 'with places'] })
  })

  it('costs two statements when the quota is used up, or the budget of refusals', async () => {
    const from = someone()
    for (let used = 0; used < UPLOADS_PER_DAY; used++) await store(server.url, gif(), from)
    // It waits, and asks again, until what was stored is confirmed. The next one need not.
    await expectStatus(429, post(server.url, gif(), from))
    const cost = await costOf(() => expectStatus(429, post(server.url, gif(), from)))
    assert.deepEqual(cost, { store: [], ledger: ['with places', 'select places'] })
  })
})

describe('everything else', { skip }, () => {
  const get = (path: string, headers = {}, method = 'GET') => request(server.url, method, path, { headers })

  const acts: Record<string, { act: (image: Stored) => Promise<unknown>; cost: Cost }> = {
    'the bytes': {
      act: ({ id }) => expectStatus(200, fetchRaw(server.url, id)),
      cost: { store: ['GET'], ledger: [] },
    },
    'the bytes by HEAD': {
      act: ({ id }) => expectStatus(200, get(`/raw/${id}`, {}, 'HEAD')),
      cost: { store: ['GET'], ledger: [] },
    },
    'the bytes, if changed': {
      act: ({ id }) => expectStatus(304, get(`/raw/${id}`, { 'If-None-Match': '*' })),
      cost: { store: ['GET'], ledger: [] },
    },
    'a range': {
      act: ({ id }) => expectStatus(206, get(`/raw/${id}`, { Range: 'bytes=0-9' })),
      cost: { store: ['GET'], ledger: [] },
    },
    'the page': {
      act: ({ id }) => expectStatus(200, get(`/${id}`)),
      cost: { store: ['GET'], ledger: [] },
    },
    'an image that is not there': {
      act: () => expectStatus(404, fetchRaw(server.url, 'AAAAAAAAAAA')),
      cost: { store: ['GET'], ledger: ['select removals'] },
    },
    'what is no id': {
      act: () => expectStatus(404, get('/raw/short')),
      cost: { store: [], ledger: [] },
    },
    'the home page': {
      act: () => expectStatus(200, get('/')),
      cost: { store: [], ledger: [] },
    },
    'whether it is ready': {
      act: () => expectStatus(200, get('/readyz')),
      cost: { store: ['PUT', 'DELETE'], ledger: ['insert facts'] },
    },
    // Looked at twice, marked for good: exactly one of many removers must be told that it was the one.
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
    it(`costs what is known: ${name}`, async () => {
      const image = await store(server.url, gif(), someone())
      assert.deepEqual(await costOf(() => act(image)), cost)
    })
  }
})
