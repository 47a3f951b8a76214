/** nginx in front of the servers. Runs last, as it kills them. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { checkProblem } from '../contracts/http/rules.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type Cache, freePort, skipWithout, startNginxFront } from '../support/processes/caches.ts'
import { fetchRaw, post, store } from '../support/upload.ts'
import { cluster } from './servers.ts'

describe('nginx in front of servers that die', { skip: await skipWithout('nginx') }, () => {
  let front: Cache
  before(async () => {
    const ports = cluster.servers.map((server) => server.port)
    front = await startNginxFront(await freePort(), ports, ['127.0.0.1/32'])
  })
  after(() => front?.stop())

  it('retries on other servers, even for uploads', async () => {
    const { id, bytes } = await store(front.url, gif(), '198.51.102.1')
    await cluster.servers[0]!.kill()
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index % 2 ? fetchRaw(front.url, id) : post(front.url, gif(), '198.51.102.2'),
      ),
    )
    for (const [index, { status, body }] of answers.entries()) {
      assert.equal(status, index % 2 ? 200 : 201)
      if (index % 2) assert.deepEqual(body, bytes)
    }
  })

  it('returns the API’s 503 when no server is left', async () => {
    await Promise.all(cluster.servers.map((server) => server.kill()))
    for (const answer of [await fetchRaw(front.url, 'AAAAAAAAAAA'), await post(front.url, gif())]) {
      checkProblem(answer, 503, 'unavailable')
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      assert.equal(answer.headers.get('X-Content-Type-Options'), 'nosniff')
    }
  })
})
