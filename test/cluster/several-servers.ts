/** Several servers acting as one. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkProblem } from '../contracts/http/rules.ts'
import { gif } from '../support/images/tiny-images.ts'
import { burst, fetchRaw, post, remove, store } from '../support/upload.ts'
import { everywhere, fake, page, postgres, remainingOf, urls } from './servers.ts'

/** A tombstone in a bucket. Unit: bytes. */
const RETIRED_BYTES = 7

describe('several servers', () => {
  it('accept exactly 100 of 300 concurrent uploads from one address', async () => {
    const from = '198.51.100.10'
    const before = fake.objects.size
    const { answers } = await burst(urls, 300, { from, aborted: 0 })
    const stored = answers.filter(({ status }) => status === 201)
    assert.equal(stored.length, 100)
    for (const answer of answers) if (answer.status !== 201) checkProblem(answer, 429, 'quota-exceeded')
    const remaining = stored.map(remainingOf).sort((a, b) => a - b)
    assert.deepEqual(
      remaining,
      Array.from({ length: 100 }, (_, index) => index),
      'each count is returned once',
    )
    assert.equal(fake.objects.size - before, 100)
    for (const answer of await everywhere((url) => post(url, gif(), from))) assert.equal(answer.status, 429)
    const shared = answers.filter((answer, index) => answer.status === 201 && index % urls.length !== 0)
    assert.ok(shared.length > 0, 'more than one server accepted uploads')
    for (const answer of stored) assert.equal((await fetchRaw(urls[0]!, answer.json().id)).status, 200)
  })

  it('immediately see images that another server stored or deleted', async () => {
    for (let index = 0; index < 9; index++) {
      const { id, key, bytes } = await store(urls[index % urls.length]!)
      for (const answer of await everywhere((url) => fetchRaw(url, id))) assert.deepEqual(answer.body, bytes)
      assert.equal((await remove(urls[(index + 1) % urls.length]!, key)).status, 200)
      for (const ask of [fetchRaw, page]) {
        for (const answer of await everywhere((url) => ask(url, id))) assert.equal(answer.status, 404)
      }
    }
  })

  it('delete an image once on concurrent requests', async () => {
    const { id, key } = await store(urls[0]!)
    const answers = await Promise.all([...urls, ...urls, ...urls].map((url) => remove(url, key)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(8).fill(404)])
    // The tombstone that retires the ID.
    const remaining = [...fake.objects].filter(([name]) => name.endsWith(id))
    assert.deepEqual(
      remaining.map(([, { size }]) => size),
      [RETIRED_BYTES],
    )
  })

  it('keep keys and addresses out of the store and the ledger', async () => {
    const from = '198.51.100.30'
    const { id, key } = await store(urls[0]!, gif(), from)
    const [object] = [...fake.objects].filter(([name]) => name.endsWith(id))
    const stored = JSON.stringify([object![0], object![1].headers, object![1].bytes!.toString('latin1')])
    const tables = await postgres.query(
      "select query_to_xml(format('select * from %I.%I', schemaname, tablename), true, true, '')::text as rows from pg_tables where schemaname like 'case_%'",
    )
    const rows = JSON.stringify(tables)
    assert.ok(rows.includes('<bucket>'), 'the ledger has upload counts')
    for (const secret of [key.slice(11), from]) {
      assert.ok(!stored.includes(secret), secret)
      assert.ok(!rows.includes(secret), secret)
    }
  })
})
