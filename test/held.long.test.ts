/** Three servers on one folder and ledger: what one of them only holds, the others do not call used up. */

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { checkProblem } from './contracts/http/rules.ts'
import { newFolder } from './support/folder.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { begin, post, store } from './support/upload.ts'

const PER_DAY = 3

let dataDir: string
let servers: RunningServer[] = []
let people = 0
/** An address with a whole day's quota. */
const someone = () => `198.51.100.${++people}`

before(async () => {
  dataDir = await newFolder()
  const env = { UPLOADS_PER_DAY: `${PER_DAY}`, OPERATOR_LISTEN: 'off' }
  for (let n = 0; n < 3; n++) servers = [...servers, await startServer(env, { dataDir })]
})
after(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await rm(dataDir, { recursive: true, force: true })
})

/** Uploads left, without reserving one: this method is refused. */
async function left(url: string, from: string): Promise<string | null> {
  const answer = await request(url, 'PUT', '/api/upload', { headers: { 'X-Forwarded-For': from } })
  return answer.headers.get('X-RateLimit-Remaining')
}

describe('the last uploads of a day, held by one server', () => {
  it('are waited for on all of them, and used up everywhere once they are stored', async () => {
    const [first, ...others] = servers.map(({ url }) => url) as [string, string, string]
    const from = someone()
    await store(others[0], gif(), from)
    const begun = [await begin(first, from), await begin(first, from)]
    for (const url of others) await until('they are held', async () => (await left(url, from)) === '0')
    let answered = 0
    const late = others.map((url) => post(url, gif(), from).finally(() => answered++))
    for (const url of others) await left(url, from)
    assert.equal(answered, 0, 'nobody knows yet')
    for (const { write, answer, rest } of begun) {
      await write(rest)
      assert.equal((await answer()).status, 201)
    }
    for (const answer of await Promise.all(late)) checkProblem(answer, 429, 'quota-exceeded')
    for (const { url } of servers) checkProblem(await post(url, gif(), from), 429, 'quota-exceeded')
  })

  it('are there for the others when they are given up', async () => {
    const [first, second, third] = servers.map(({ url }) => url) as [string, string, string]
    const from = someone()
    await store(third, gif(), from)
    await store(second, gif(), from)
    const begun = await begin(first, from)
    await until('it is held', async () => (await left(second, from)) === '0')
    const late = [post(second, gif(), from), post(third, gif(), from)]
    begun.close()
    const statuses = (await Promise.all(late)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, 429])
  })
})
