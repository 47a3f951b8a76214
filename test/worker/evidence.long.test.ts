/** Sealed evidence on Workers is stored in the image bucket, under a prefix that image listings skip. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readOpened } from '../../src/service/moderation/evidence.ts'
import { createKeyPair, open } from '../../src/service/moderation/sealing.ts'
import type { R2ObjectBody } from '../../src/stores/r2/binding.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { run } from '../support/processes/process.ts'
import { store } from '../support/upload.ts'
import { LOCAL_OPERATOR, startWorker } from '../support/worker/worker-host.ts'

const OPERATOR_TOKEN = 'a-token-of-more-than-24-characters'

it('seals an image removed for child abuse and never serves it', async (t) => {
  const { publicKey, privateKey } = await createKeyPair()
  const worker = await startWorker({
    OPERATOR_URL: LOCAL_OPERATOR,
    OPERATOR_TOKEN,
    EVIDENCE_KEY: publicKey,
  })
  t.after(() => worker.stop())
  const bytes = gif({ size: 1_500_000 })
  const { id } = await store(worker.url, bytes)
  const words = ['remove', id, '--reason', 'x', '--rule', 'child-abuse']
  const operator = (words: string[]) =>
    run(['src/node/operator.ts', '--server', worker.operatorUrl, ...words], { OPERATOR_TOKEN })
  const done = await operator(words)
  assert.equal(done.code, 0, done.stderr)
  const inFolder = { prefix: '.evidence/', limit: 10, delimiter: '/', include: [] }
  const { objects } = await worker.bucket.list(inFolder)
  assert.equal(objects.length, 1)
  const { key } = objects[0]!
  const object = (await worker.bucket.get(key)) as R2ObjectBody
  const opened = readOpened(await open(new Uint8Array(await object.arrayBuffer()), privateKey))
  assert.equal(opened.facts.record.id, id)
  assert.ok(Buffer.from(opened.bytes).equals(bytes))
  for (const path of [`/${key}`, `/raw/${key}`, `/raw/${id}`]) {
    assert.ok([404, 410].includes((await request(worker.url, 'GET', path)).status), path)
  }
  assert.doesNotMatch((await operator(['list'])).stdout, new RegExp(id))
})
