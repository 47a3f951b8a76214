/** The server on Bun and Deno: the HTTP contract, with the exceptions listed in the README, and kills. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { run } from './support/processes/process.ts'

for (const runtime of ['bun', 'deno']) {
  it(`fulfils the contract on ${runtime}, with known exceptions, and loses nothing acknowledged when killed`, async () => {
    const ran = await run(['scripts/contract.ts', '--runtime', runtime, '--rounds', '2'], { CI: '1' })
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    assert.match(ran.stdout, /\| kill \|.*\| passed \|/)
  })
}
