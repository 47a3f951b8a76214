/** Several servers, one of which has a wrong clock. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readDocument } from './contracts/http/document.ts'
import { checkProblem } from './contracts/http/rules.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { type LocalServer, startLocalServer } from './support/processes/local-server.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from './support/processes/postgres.ts'
import { fetchRaw, post } from './support/upload.ts'

const DAY_MS = 86_400_000

describe('a server whose clock is 10 days fast', { skip: whyNoPostgres() }, () => {
  let postgres: PostgresServer
  let right: LocalServer
  let wrong: LocalServer
  let error = 0
  before(async () => {
    postgres = await startPostgres()
    const env = { LEDGER_URL: await postgres.createSchema(), UPLOADS_PER_DAY: '5' }
    right = await startLocalServer(env, {})
    wrong = await startLocalServer(env, { now: () => Date.now() + error }, right.dataDir)
  })
  after(async () => {
    await wrong?.stop()
    await right?.stop()
    await postgres?.destroy()
  })

  it('refuses uploads with a reason, erases no day, and resumes when its clock is right', async () => {
    const from = '198.51.100.9'
    let stored = 0
    const storeAt = async ({ url }: LocalServer) => {
      const answer = await post(url, gif(), from)
      if (answer.status === 201) stored++
      return answer
    }
    assert.equal((await storeAt(wrong)).status, 201)
    error = 10 * DAY_MS
    const refused = await storeAt(wrong)
    checkProblem(refused, 503, 'unavailable')
    assert.match(refused.json().detail, /clock/)
    const ready = await request(wrong.url, 'GET', '/readyz')
    assert.deepEqual([ready.status, ready.json().clock], [503, 'wrong'])
    const document = await readDocument(wrong.url, new Set())
    document.check(ready, { method: 'GET', path: '/readyz' })
    assert.equal((await request(right.url, 'GET', '/readyz')).status, 200)
    for (let count = 0; count < 8; count++) {
      await storeAt(right)
      await storeAt(wrong)
    }
    assert.equal(stored, 5, 'never more than the limit')
    assert.equal((await fetchRaw(wrong.url, 'AAAAAAAAAAA')).status, 404, 'views still work')
    error = 0
    assert.equal((await storeAt(wrong)).status, 429)
    assert.equal((await request(wrong.url, 'GET', '/readyz')).status, 200)
  })

  it('accepts uploads again afterwards', async () => {
    assert.equal((await post(wrong.url, gif(), '198.51.100.10')).status, 201)
  })
})
