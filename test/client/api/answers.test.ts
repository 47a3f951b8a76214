/** Invalid responses and invalid arguments. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendTo } from '../../../src/client/api/send.ts'
import { fakeService, SENT } from './fake-service.ts'

const blobOf = (bytes: number) => new Blob([new Uint8Array(bytes).fill(7)], { type: 'image/png' })

test('rejects a response that is not from a Pinhole service, and says what to do', async () => {
  for (const [step, sentence] of [
    [
      { status: 301, headers: { Location: 'https://pics.example/api/upload' } },
      /redirects to https:\/\/pics\.example/,
    ],
    [{ status: 200, body: '<html>' }, /no Pinhole service at this address \(status 200\)/],
    [{ status: 404, body: '<html>' }, /no Pinhole service .* \(status 404\)\. Use the address/],
    [{ status: 413, body: '<html>' }, /A proxy in front of the service refuses uploads of this size/],
    [{ status: 401 }, /login/],
    [{ status: 502, body: '<html>' }, /behind its proxy/],
    [{ status: 201, body: '<!doctype html>' }, /is a web page/],
    [{ status: 201, body: '{}' }, /invalid "id"/],
  ] as const) {
    const service = await fakeService(step)
    const failed = sendTo(blobOf(5), { retries: 0 }, service.endpoint)
    await assert.rejects(failed, sentence, `${step.status}`)
  }
})

test('retries when a login page answers with a success, like any network fault', async () => {
  const page = { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html>Please log in' }
  const service = await fakeService(
    { status: 200, ...page },
    { status: 201, ...page },
    { status: 201, body: SENT },
  )
  assert.equal((await sendTo(blobOf(5), {}, service.endpoint)).id, SENT.id)
  for (const status of [200, 201, 204]) {
    const { endpoint } = await fakeService({ status, ...page })
    await assert.rejects(sendTo(blobOf(5), { retries: 0 }, endpoint), { name: 'Unreachable' }, `${status}`)
  }
})

test('rejects a response with a malformed member', async () => {
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
    ...['tomorrow', '2026-13-40T99:99:99Z', 5, null, '2026-11-24T03:29:49Z\u001b[2J'].map((expires) => ({
      expires,
    })),
  ]) {
    const service = await fakeService({ status: 201, body: { ...SENT, ...wrong } })
    const failed = sendTo(blobOf(5), { retries: 0 }, service.endpoint)
    await assert.rejects(failed, { name: 'Unreachable', message: /not from a Pinhole service/ })
  }
})

test('throws a helpful TypeError for arguments of the wrong type', async () => {
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
