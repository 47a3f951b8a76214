/** The server on Bun and on Deno: the HTTP contract as far as the README says that it holds, and kills. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { run } from './support/processes/process.ts'

for (const runtime of ['bun', 'deno']) {
  it(`keeps the contract on ${runtime}, but for what is named, and what it acknowledged before a kill`, async () => {
    const ran = await run(['scripts/contract.ts', '--runtime', runtime, '--rounds', '10'], { CI: '1' })
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    assert.match(ran.stdout, /Every acknowledgement held/)
  })
}
