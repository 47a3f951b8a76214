/** The server on Bun and Deno: the HTTP contract, with the exceptions listed in the README, and kills. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { bunBinary, denoBinary } from '../scripts/runtimes.ts'
import { run } from './support/processes/process.ts'
import { serverFor } from './support/processes/server.ts'
import { fetchRaw, store } from './support/upload.ts'

const PROGRAMS = {
  bun: { file: bunBinary(), words: ['src/node.ts'] },
  deno: { file: denoBinary(), words: ['run', '--allow-all', '--no-check', 'src/node.ts'] },
}

for (const runtime of ['bun', 'deno'] as const) {
  it(`fulfils the contract on ${runtime}, with known exceptions, and loses nothing acknowledged when killed`, async () => {
    const ran = await run(['scripts/contract.ts', '--runtime', runtime, '--rounds', '2'], { CI: '1' })
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    assert.match(ran.stdout, /\| kill \|.*\| passed \|/)
  })

  it(`runs several workers on ${runtime}`, async (t) => {
    const { url } = await serverFor(t, { WORKERS: '2' }, { program: PROGRAMS[runtime] })
    const { id, bytes } = await store(url)
    assert.deepEqual((await fetchRaw(url, id)).body, bytes)
  })
}
