/** Answers that a sound service would not give, and arguments that make no sense. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendTo } from '../../../src/client/api/send.ts'
import { fakeService, SENT } from './fake-service.ts'

const blobOf = (bytes: number) => new Blob([new Uint8Array(bytes).fill(7)], { type: 'image/png' })

test('an answer of something else is no success, and its sentence says what to do', async () => {
  for (const [step, sentence] of [
    [
      { status: 301, headers: { Location: 'https://pics.example/api/upload' } },
      /leads on to https:\/\/pics\.example/,
    ],
    [{ status: 200, body: '<html>' }, /No Pinhole service answers at this address \(status 200\)/],
    [{ status: 404, body: '<html>' }, /No Pinhole service .* \(status 404\)\. Check it/],
    [{ status: 413, body: '<html>' }, /A proxy before the service refuses uploads of this size/],
    [{ status: 401 }, /login/],
    [{ status: 502, body: '<html>' }, /behind its proxy/],
    [{ status: 201, body: '<!doctype html>' }, /a web page answered/],
    [{ status: 201, body: '{}' }, /the answer's "id"/],
  ] as const) {
    const service = await fakeService(step)
    const failed = sendTo(blobOf(5), { retries: 0 }, service.endpoint)
    await assert.rejects(failed, sentence, `${step.status}`)
  }
})

test('a member of the answer that is not of its shape is no answer', async () => {
  for (const wrong of [
    { id: '../../../x' },
    { id: `${SENT.id}\n` },
    { id: 5 },
    { link: `javascript:alert(1)/${SENT.id}` },
    { link: `https://pics.example/\u001b[2J/${SENT.id}` },
    { link: 'https://pics.example/lmnopqrstuv' },
    { link: `https://pics.example/$(reboot) /${SENT.id}` },
    { key: 'short' },
    { key: `${SENT.key}\u001b` },
    { delete: `https://pics.example/api/delete?key=${'Z'.repeat(43)}` },
    { delete: `file:///api/delete?key=${SENT.key}` },
  ]) {
    const service = await fakeService({ status: 201, body: { ...SENT, ...wrong } })
    const failed = sendTo(blobOf(5), { retries: 0 }, service.endpoint)
    await assert.rejects(failed, { name: 'Unreachable', message: /not what a Pinhole service sends/ })
  }
})

test('arguments of programs without types get a sentence', async () => {
  const service = await fakeService()
  for (const [file, options, message] of [
    ['a.jpg', {}, /openAsBlob/],
    [Buffer.from('x'), {}, /new Blob\(\[bytes\]\)/],
    [null, {}, /not null/],
    [undefined, {}, /not undefined/],
    [blobOf(5), { mode: 'best' }, /mode/],
    [blobOf(5), { retries: -1 }, /retries/],
    [blobOf(5), { retries: 1.5 }, /retries/],
    [blobOf(5), { retries: '3' }, /retries/],
    [blobOf(5), { maxBytes: NaN }, /maxBytes/],
  ] as const) {
    const attempt = sendTo(file as Blob, options as object, service.endpoint)
    await assert.rejects(attempt, { name: 'TypeError', message })
  }
})
