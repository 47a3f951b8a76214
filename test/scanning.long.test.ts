/** Scanners that are down, slow or broken, and recovery after crashes. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { startFakeScanner } from './support/fake-scanner.ts'
import { previewed } from './support/images/previewed.ts'
import { gif } from './support/images/tiny-images.ts'
import { serverFor } from './support/processes/server.ts'
import { becomes, started } from './support/scanned-server.ts'
import { sha256Of } from './support/sha256.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, store } from './support/upload.ts'

it('scans previews too', async (t) => {
  const { scanner, server } = await started(t, { SCAN: 'before' })
  const { file, preview, image } = await previewed()
  scanner.answers.set(sha256Of(preview), 'csam')
  assert.equal((await post(server.url, file)).json().error, 'blocked-image')
  assert.equal(scanner.looksAt(preview), 1)
  assert.equal((await post(server.url, image)).status, 201)
})

it('sends the password in SCANNER_URL, and never logs it', async (t) => {
  const scanner = await startFakeScanner()
  t.after(() => scanner.close())
  const url = scanner.url.replace('//', '//me:p%40ss%E2%82%AC@')
  const server = await serverFor(t, { SCANNER_URL: url, SCAN: 'before', LOG_LEVEL: 'trace' })
  await store(server.url)
  assert.equal(scanner.asked[0]?.authorization, `Basic ${Buffer.from('me:p@ss€').toString('base64')}`)
  scanner.otherwise = 'reset'
  assert.equal((await post(server.url, gif())).status, 201)
  assert.doesNotMatch(server.stdout() + server.stderr(), /p(%40|@)ss/)
})

it('loses no scan when the scanner is down or the server is killed', async (t) => {
  const { scanner, server } = await started(t, { SCAN: 'after' })
  scanner.otherwise = 'reset'
  const images = []
  for (let count = 0; count < 6; count++) images.push(await store(server.url))
  await server.kill()
  assert.ok(images.every(({ id }) => id.length === 11))
  scanner.otherwise = 'csam'
  await server.restart()
  for (const { id } of images) await becomes(server, id, 403)
})

it('hides images without a verdict with SCAN_FAULT=hold, and shows them once they have one', async (t) => {
  const { scanner, server } = await started(t, { SCAN: 'before', SCAN_SECONDS: '1' })
  scanner.otherwise = 'silent'
  const [image, gone] = await Promise.all([store(server.url), store(server.url)])
  for (const { id } of [image, gone]) {
    const answer = await fetchRaw(server.url, id)
    assert.deepEqual([answer.status, answer.json().error], [403, 'held'])
  }
  assert.equal((await remove(server.url, gone.key)).status, 200)
  await server.kill()
  scanner.otherwise = 'clean'
  await server.restart({ SCAN_SECONDS: '10' })
  await becomes(server, image.id, 200)
  assert.equal((await fetchRaw(server.url, gone.id)).status, 404)
})

it('publishes images without a verdict with SCAN_FAULT=publish, and scans them later', async (t) => {
  const env = { SCAN: 'before', SCAN_SECONDS: '1', SCAN_FAULT: 'publish' }
  const { scanner, server } = await started(t, env)
  scanner.otherwise = 'silent'
  const { id } = await store(server.url)
  assert.equal((await fetchRaw(server.url, id)).status, 200)
  scanner.otherwise = 'csam'
  await becomes(server, id, 403)
})

it('limits concurrent scans, and answers every one of many uploads', async (t) => {
  const env = { SCAN: 'before', SCAN_SECONDS: '3', SCAN_FAULT: 'refuse', UPLOADS_AT_ONCE: '40' }
  const { scanner, server } = await started(t, env)
  scanner.otherwise = 'silent'
  const answers = await Promise.all(Array.from({ length: 40 }, () => post(server.url, gif())))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([503]))
  assert.ok(scanner.maxAtOnce() <= 4, `${scanner.maxAtOnce()} concurrent scans`)
  scanner.otherwise = 'clean'
  await until('the scanner is free again', async () => (await post(server.url, gif())).status === 201)
})

it('hides an image that a crash left visible before its verdict', async (t) => {
  const { scanner, server } = await started(t, { SCAN: 'off' })
  scanner.otherwise = 'silent'
  const { id } = await store(server.url)
  await server.end()
  const ledger = await openSqliteLedger({ file: join(server.dataDir, 'ledger.sqlite') })
  await ledger.recordScan({ id, at: Date.now(), dueAt: Date.now(), isHidden: true })
  await ledger.close()
  await server.restart({ SCAN: 'before' })
  await becomes(server, id, 403)
})

for (const [fault, status] of [
  ['publish', 200],
  ['refuse', 404],
] as const) {
  it(`keeps pending images hidden when SCAN is turned off, with a warning, until SCAN_FAULT=${fault}`, async (t) => {
    const { scanner, server } = await started(t, { SCAN: 'before', SCAN_SECONDS: '1' })
    scanner.otherwise = 'silent'
    const { id } = await store(server.url)
    await becomes(server, id, 403)
    await server.end()
    await server.restart({ SCAN: 'off' })
    await until('the warning is logged', () =>
      /"count":1,"fault":"hold".*SCAN_FAULT=publish/.test(server.stderr()),
    )
    assert.equal((await fetchRaw(server.url, id)).status, 403)
    await server.end()
    await server.restart({ SCAN_FAULT: fault })
    await becomes(server, id, status)
  })
}

it('does not call the scanner while SCAN is off', async (t) => {
  const { scanner, server } = await started(t, {})
  const { id } = await store(server.url)
  assert.equal((await fetchRaw(server.url, id)).status, 200)
  await server.stop()
  assert.equal(scanner.asked.length, 0)
})
