/** Three servers on one folder and ledger: a reservation of one server does not count as used on the others. */

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { checkProblem } from './contracts/http/rules.ts'
import { newFolder } from './support/folder.ts'
import { gif } from './support/images/tiny-images.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { begin, post, remaining, store } from './support/upload.ts'

const PER_DAY = 3

let dataDir: string
let servers: RunningServer[] = []
let addresses = 0
/** A new address with an unused quota. */
const newAddress = () => `198.51.100.${++addresses}`

before(async () => {
  dataDir = await newFolder()
  const env = { UPLOADS_PER_DAY: `${PER_DAY}`, OPERATOR_LISTEN: 'off' }
  for (let n = 0; n < 3; n++) servers = [...servers, await startServer(env, { dataDir })]
})
after(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await rm(dataDir, { recursive: true, force: true })
})

describe('the last uploads of a day, reserved on one server', () => {
  it('make uploads on all servers wait, and use up the quota once they are stored', async () => {
    const [first, ...others] = servers.map(({ url }) => url) as [string, string, string]
    const from = newAddress()
    await store(others[0], gif(), from)
    const begun = [await begin(first, from), await begin(first, from)]
    for (const url of others)
      await until('they are reserved', async () => (await remaining(url, from)) === '0')
    let answered = 0
    const late = others.map((url) => post(url, gif(), from).finally(() => answered++))
    for (const url of others) await remaining(url, from)
    assert.equal(answered, 0, 'the outcome is still open')
    for (const { write, answer, rest } of begun) {
      await write(rest)
      assert.equal((await answer()).status, 201)
    }
    for (const answer of await Promise.all(late)) checkProblem(answer, 429, 'quota-exceeded')
    for (const { url } of servers) checkProblem(await post(url, gif(), from), 429, 'quota-exceeded')
  })

  it('become available to the other servers when released', async () => {
    const [first, second, third] = servers.map(({ url }) => url) as [string, string, string]
    const from = newAddress()
    await store(third, gif(), from)
    await store(second, gif(), from)
    const begun = await begin(first, from)
    await until('it is reserved', async () => (await remaining(second, from)) === '0')
    const late = [post(second, gif(), from), post(third, gif(), from)]
    begun.close()
    const statuses = (await Promise.all(late)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, 429])
  })
})
