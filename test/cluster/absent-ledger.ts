/** A ledger that is not there. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkProblem } from '../contracts/http/rules.ts'
import type { Answer } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, store } from '../support/upload.ts'
import { everywhere, page, postgres, ready, reservationsLeft, untilReadyzSays, urls } from './servers.ts'

export function absentLedgerCases(): void {
  describe('a ledger that is not there', () => {
    it('stops uploads, and nothing else', async () => {
      const from = '198.51.100.60'
      const { id, bytes } = await store(urls[0]!, gif(), from)
      const doomed = await store(urls[0]!, gif(), from)
      await postgres.stop()
      try {
        for (const answer of await everywhere((url) => post(url, gif(), from))) {
          checkProblem(answer, 503, 'unavailable')
          assert.equal(answer.headers.get('X-RateLimit-Limit'), '100')
        }
        for (const answer of await everywhere((url) => fetchRaw(url, id)))
          assert.deepEqual(answer.body, bytes)
        for (const answer of await everywhere((url) => page(url, id))) assert.equal(answer.status, 200)
        // Nobody can tell whether the operator removed it: it is not there.
        for (const answer of await everywhere((url) => fetchRaw(url, 'AAAAAAAAAAA'))) {
          checkProblem(answer, 404, 'not-found')
        }
        assert.equal((await remove(urls[1]!, doomed.key)).status, 200)
        await untilReadyzSays({ status: 'unavailable', ledger: 'unavailable' })
        for (const answer of await everywhere(ready)) assert.equal(answer.status, 503)
      } finally {
        await postgres.start()
      }
      for (const answer of await everywhere(ready)) assert.equal(answer.status, 200)
      assert.equal(await reservationsLeft(from), 98, 'it remembers')
      for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 201)
      for (const answer of await everywhere((url) => fetchRaw(url, doomed.id)))
        assert.equal(answer.status, 404)
    })

    const readOnly: Record<string, { begin: () => Promise<unknown>; end: () => Promise<unknown> }> = {
      'it takes no writes': {
        begin: () => setting('alter system set default_transaction_read_only = on'),
        end: () => setting('alter system reset default_transaction_read_only'),
      },
      'it is a standby that nobody promoted': {
        async begin() {
          const [row] = await postgres.query('show data_directory')
          await postgres.stop()
          await writeFile(join(String(row!.data_directory), 'standby.signal'), '')
          // Which resolves when it takes writes.
          postgres.start().catch(() => {})
          await until('it can be read', () =>
            postgres.query('select 1').then(
              () => true,
              () => false,
            ),
          )
        },
        end: () => postgres.query('select pg_promote()'),
      },
    }
    for (const [name, { begin, end }] of Object.entries(readOnly)) {
      it(`is not ready, refuses uploads, and serves on: ${name}`, async () => {
        const from = `198.51.100.${70 + name.length}`
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

    it('restarted under load loses no image and gives no place twice', async () => {
      const addresses = Array.from({ length: 12 }, (_, nth) => `198.51.101.${nth}`)
      const answers = new Map<string, Answer[]>(addresses.map((from) => [from, []]))
      let isOver = false
      const loads = addresses.map(async (from, nth) => {
        while (!isOver) answers.get(from)!.push(await post(urls[nth % urls.length]!, gif(), from))
      })
      const count = (status: number) =>
        [...answers.values()].flat().filter((answer) => answer.status === status).length
      const rises = async (status: number) => {
        const before = count(status)
        await until(`some ${status}`, () => count(status) > before + 20)
      }
      await rises(201)
      await postgres.stop()
      await rises(503)
      await postgres.start()
      await rises(201)
      isOver = true
      await Promise.all(loads)
      for (const [from, given] of answers) {
        const stored = given.filter(({ status }) => status === 201)
        const refused = given.filter(({ status }) => status === 503)
        const full = given.filter(({ status }) => status === 429)
        assert.equal(
          stored.length + refused.length + full.length,
          given.length,
          'nothing but 201, 503 and 429',
        )
        for (const answer of refused) checkProblem(answer, 503, 'unavailable')
        assert.ok(stored.length <= 100)
        // A place whose reply was lost stays taken: never one too many, at worst one too few.
        const used = 100 - (await reservationsLeft(from))
        assert.ok(
          used >= stored.length && used <= stored.length + refused.length,
          `${used} of ${stored.length}`,
        )
        for (const answer of stored) assert.equal((await fetchRaw(urls[0]!, answer.json().id)).status, 200)
      }
    })
  })
}

async function setting(sql: string): Promise<void> {
  // A session of its own may write whatever the default is.
  await postgres.query(sql)
  await postgres.query('select pg_reload_conf()')
}
