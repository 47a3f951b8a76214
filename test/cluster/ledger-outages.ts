/** Outages of the ledger. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkProblem } from '../contracts/http/rules.ts'
import { gif } from '../support/images/tiny-images.ts'
import { succeeds } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remaining, remove, store } from '../support/upload.ts'
import { everywhere, page, postgres, ready, untilReadyzSays, urls } from './servers.ts'

describe('ledger outage', () => {
  it('stops uploads, and nothing else', async () => {
    const from = '198.51.100.60'
    const { id, bytes } = await store(urls[0]!, gif(), from)
    const deleted = await store(urls[0]!, gif(), from)
    await postgres.stop()
    try {
      for (const answer of await everywhere((url) => post(url, gif(), from))) {
        checkProblem(answer, 503, 'unavailable')
        assert.equal(answer.headers.get('X-RateLimit-Limit'), '100')
      }
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      for (const answer of await everywhere((url) => page(url, id))) assert.equal(answer.status, 200)
      // Without the ledger, removed and unknown images can't be told apart.
      for (const answer of await everywhere((url) => fetchRaw(url, 'AAAAAAAAAAA'))) {
        checkProblem(answer, 404, 'not-found')
      }
      assert.equal((await remove(urls[1]!, deleted.key)).status, 200)
      await untilReadyzSays({ status: 'unavailable', ledger: 'unavailable' })
      for (const answer of await everywhere(ready)) assert.equal(answer.status, 503)
    } finally {
      await postgres.start()
    }
    for (const answer of await everywhere(ready)) assert.equal(answer.status, 200)
    assert.equal(await remaining(urls[0]!, from), 98, 'the count is kept')
    for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 201)
    for (const answer of await everywhere((url) => fetchRaw(url, deleted.id)))
      assert.equal(answer.status, 404)
  })

  const readOnly: Record<string, { begin: () => Promise<unknown>; end: () => Promise<unknown> }> = {
    'read-only primary': {
      begin: () => setting('alter system set default_transaction_read_only = on'),
      end: () => setting('alter system reset default_transaction_read_only'),
    },
    'standby that was not promoted': {
      async begin() {
        const [row] = await postgres.query('show data_directory')
        await postgres.stop()
        await writeFile(join(String(row!.data_directory), 'standby.signal'), '')
        // Would resolve only once the server accepts writes.
        postgres.start().catch(() => {})
        await until('the server accepts reads', () => succeeds(postgres.query('select 1')))
      },
      end: () => postgres.query('select pg_promote()'),
    },
  }
  for (const [index, [name, { begin, end }]] of Object.entries(readOnly).entries()) {
    it(`reports not ready and refuses uploads, but keeps serving images: ${name}`, async () => {
      const from = `198.51.100.${70 + index}`
      const { id, bytes } = await store(urls[0]!, gif(), from)
      await begin()
      try {
        await untilReadyzSays({ status: 'unavailable', ledger: 'unavailable' })
        for (const answer of await everywhere((url) => post(url, gif(), from))) {
          checkProblem(answer, 503, 'unavailable')
        }
        for (const answer of await everywhere((url) => fetchRaw(url, id)))
          assert.deepEqual(answer.body, bytes)
      } finally {
        await end()
      }
      await untilReadyzSays({ status: 'ok' })
      for (const answer of await everywhere((url) => post(url, gif(), from))) {
        assert.equal(answer.status, 201)
      }
    })
  }
})

async function setting(sql: string): Promise<void> {
  // `alter system` is not affected by the read-only default.
  await postgres.query(sql)
  await postgres.query('select pg_reload_conf()')
}
