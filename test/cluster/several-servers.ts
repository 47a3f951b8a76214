/** What several servers do as one. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkProblem } from '../contracts/http/rules.ts'
import { gif } from '../support/images/tiny-images.ts'
import { burst, fetchRaw, post, remove, store } from '../support/upload.ts'
import { cluster, everywhere, fake, page, postgres, remainingOf, reservationsLeft, urls } from './servers.ts'

/** A tombstone in a bucket. Unit: bytes. */
const RETIRED_BYTES = 7

export function severalServersCases(): void {
  describe('several servers', () => {
    it('acknowledge exactly 100 of 150 uploads that one address sends to all at once, ten aborted beside them', async () => {
      const { statuses } = await burst(urls, 150, { from: '198.51.100.11', aborted: 10 })
      assert.deepEqual(statuses, { 201: 100, 429: 50 })
    })

    it('acknowledge exactly 100 of 300 uploads that one address sends to all at once', async () => {
      const from = '198.51.100.10'
      const before = fake.objects.size
      const { answers } = await burst(urls, 300, { from, aborted: 0 })
      const stored = answers.filter(({ status }) => status === 201)
      assert.equal(stored.length, 100)
      for (const answer of answers) if (answer.status !== 201) checkProblem(answer, 429, 'quota-exceeded')
      const places = stored.map(remainingOf).sort((a, b) => a - b)
      assert.deepEqual(
        places,
        Array.from({ length: 100 }, (_, left) => left),
        'each place is given once',
      )
      assert.equal(fake.objects.size - before, 100)
      for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 429)
      const shared = answers.filter((answer, nth) => answer.status === 201 && nth % urls.length !== 0)
      assert.ok(shared.length > 0, 'more than one server took uploads')
      for (const answer of stored) assert.equal((await fetchRaw(urls[0]!, answer.json().id)).status, 200)
    })

    it('see at once what one of them stored or deleted', async () => {
      for (let nth = 0; nth < 9; nth++) {
        const { id, key, bytes } = await store(urls[nth % urls.length]!)
        for (const answer of await everywhere((url) => fetchRaw(url, id)))
          assert.deepEqual(answer.body, bytes)
        assert.equal((await remove(urls[(nth + 1) % urls.length]!, key)).status, 200)
        for (const ask of [fetchRaw, page]) {
          for (const answer of await everywhere((url) => ask(url, id))) assert.equal(answer.status, 404)
        }
      }
    })

    it('delete once when all are asked at the same time', async () => {
      const { id, key } = await store(urls[0]!)
      const answers = await Promise.all([...urls, ...urls, ...urls].map((url) => remove(url, key)))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(8).fill(404)])
      // What says that the id is never given again.
      const left = [...fake.objects].filter(([name]) => name.endsWith(id))
      assert.deepEqual(
        left.map(([, { size }]) => size),
        [RETIRED_BYTES],
      )
    })

    it('obey the operator at once', async () => {
      const { id, bytes } = await store(urls[1]!)
      const operator = async (words: string[]) => {
        const ran = await cluster.servers[0]!.operator(words)
        assert.equal(ran.code, 0, ran.stderr)
      }
      await operator(['remove', id, '--reason', 'against the terms', '--block'])
      for (const answer of await everywhere((url) => fetchRaw(url, id))) checkProblem(answer, 410, 'removed')
      for (const answer of await everywhere((url) => page(url, id))) assert.equal(answer.status, 410)
      const from = '198.51.100.20'
      for (const answer of await everywhere((url) => post(url, bytes, from))) {
        checkProblem(answer, 403, 'blocked-image')
      }
      assert.equal(await reservationsLeft(from), 100)
    })

    it('keep no key and no address in store and ledger', async () => {
      const from = '198.51.100.30'
      const { id, key } = await store(urls[0]!, gif(), from)
      const [object] = [...fake.objects].filter(([name]) => name.endsWith(id))
      const kept = JSON.stringify([object![0], object![1].headers, object![1].bytes!.toString('latin1')])
      const tables = await postgres.query(
        "select query_to_xml(format('select * from %I.%I', schemaname, tablename), true, true, '')::text as rows from pg_tables where schemaname like 'case_%'",
      )
      const rows = JSON.stringify(tables)
      assert.ok(rows.includes('<bucket>'), 'the ledger has places')
      for (const secret of [key.slice(11), from]) {
        assert.ok(!kept.includes(secret), secret)
        assert.ok(!rows.includes(secret), secret)
      }
    })
  })
}
