/** Large fixed texts are compressed once; later requests share the bytes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { sharedBody } from '../../src/http/answer.ts'
import { representations } from '../../src/http/routes/fixed-text.ts'

const plain = new TextEncoder().encode('An address of the API. '.repeat(4000))
const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync }

describe('a fixed text', () => {
  for (const [coding, decode] of Object.entries(DECODERS)) {
    it(`is compressed once with ${coding}`, async () => {
      const represent = representations(plain)
      await represent(coding)
      const concurrent = await Promise.all([represent(coding), represent(coding)])
      const later = await represent(`${coding};q=0.5`)
      for (const { bytes } of [...concurrent, later]) assert.equal(bytes, concurrent[0].bytes)
      assert.equal(later.coding, coding)
      assert.deepEqual(new Uint8Array(decode(later.bytes)), plain)
    })
  }

  it('is sent without copying it for each response', async () => {
    const reader = sharedBody(plain).getReader()
    const { value } = await reader.read()
    assert.equal(value, plain)
    assert.equal((await reader.read()).done, true)
  })
})
