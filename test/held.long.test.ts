/** Three servers on one folder and ledger: what one of them only holds, the others do not call used up. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkProblem } from './contracts/http/rules.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { formOf } from './support/multipart.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { type Conversation, converse } from './support/socket.ts'
import { until } from './support/until.ts'
import { post, store } from './support/upload.ts'

const PER_DAY = 3

let dataDir: string
let servers: RunningServer[] = []
let people = 0
/** An address with a whole day's quota. */
const someone = () => `198.51.100.${++people}`

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pinhole-'))
  const env = { UPLOADS_PER_DAY: `${PER_DAY}`, OPERATOR_LISTEN: 'off' }
  for (let n = 0; n < 3; n++) servers = [...servers, await startServer(env, { dataDir })]
})
after(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await rm(dataDir, { recursive: true, force: true })
})

interface Begun {
  finish(): Promise<number>
  giveUp(): void
}

/** The half of an upload, whose reservation is held. */
async function begin(url: string, from: string): Promise<Begun> {
  const { body, contentType } = formOf(gif({ size: 10_000 }))
  const talk: Conversation = await converse(url)
  await talk.write(
    `POST /api/upload HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: ${contentType}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
  )
  await talk.write(body.subarray(0, 5000))
  return {
    async finish() {
      await talk.write(body.subarray(5000))
      return (await talk.answer()).status
    },
    giveUp: () => talk.close(),
  }
}

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
    for (const upload of begun) assert.equal(await upload.finish(), 201)
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
    begun.giveUp()
    const statuses = (await Promise.all(late)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, 429])
  })
})
