/** Pull and push scanners. See `scanning.long.test.ts` for scanners that are down, slow or broken. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { nodeHashes } from '../src/node/hashes.ts'
import { createExpiring } from '../src/service/images/expiring.ts'
import { NO_PURGES } from '../src/service/images/purges.ts'
import { createMoves } from '../src/service/moderation/moves.ts'
import { createScanGate } from '../src/service/moderation/scan-gate.ts'
import { createScanning } from '../src/service/moderation/scanning.ts'
import { createTakedown } from '../src/service/moderation/takedown.ts'
import { LedgerUnavailable } from '../src/stores/ledger.ts'
import { StoreUnavailable } from '../src/stores/object-store.ts'
import { file, MAX_KEPT, report } from './contracts/ledger/new-report.ts'
import { pullScanSuite } from './contracts/pull-scans.ts'
import { verdict } from './support/fake-scanner.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { freePort } from './support/processes/caches.ts'
import { startServer } from './support/processes/server.ts'
import { becomes, started, withAnswer } from './support/scanned-server.ts'
import { sha256Of } from './support/sha256.ts'
import { heldOf, idFor, inChunks, listOf } from './support/stored-images.ts'
import { imagesOn, storesOf } from './support/stores.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, store } from './support/upload.ts'

const ID = idFor('a')

pullScanSuite('Node', async (env) => {
  const door = `127.0.0.1:${await freePort()}`
  const server = await startServer({ OPERATOR_LISTEN: door, ...env })
  return { url: server.url, door: `http://${door}`, stop: () => server.stop() }
})

it('publishes images, then scans them with a pict-rs validator and carries out its verdicts', async (t) => {
  const { scanner, server } = await started(t, { SCAN: 'after' })
  const [clean, csam] = [gif({ size: 700_000 }), withAnswer(scanner, 'csam')]
  const severe = withAnswer(scanner, verdict('block', { category: 'child-abuse' }))
  const flagged = withAnswer(scanner, verdict('flag', { labels: [{ name: 'odd', score: 0.5 }] }))
  const stale = withAnswer(scanner, { status: 200, body: '{"message": "Worker Stale"}' })
  const images = []
  for (const bytes of [clean, csam, severe, flagged, stale]) images.push(await store(server.url, bytes))
  const [one, two, three, four, five] = images.map(({ id }) => id)
  await becomes(server, two!, 403)
  await becomes(server, three!, 410)
  await until('all are scanned', () => [clean, flagged, stale].every((bytes) => scanner.looksAt(bytes) > 0))
  for (const id of [one, four, five]) assert.equal((await fetchRaw(server.url, id!)).status, 200)
  await until('the case of the flagged image is open', async () =>
    (await server.operator(['show', four!])).stdout.includes('odd 0.5'),
  )
  assert.match((await server.operator(['show', two!])).stdout, /Scanner: /)
  assert.equal((await post(server.url, severe)).json().error, 'blocked-image')
  for (const { type, length, sha256, announced } of scanner.asked) {
    assert.deepEqual([type, announced], ['image/gif', sha256])
    // The WSGI servers of such validators cannot read chunked bodies.
    assert.match(length ?? '', /^\d+$/)
  }
  const { stdout } = await server.operator(['audit'])
  assert.match(stdout, /scanner/)
})

it('checks for hidden images once while scanning is off, and again only while there is work to do', async (t) => {
  for (const [fault, hidden, expectedChecks] of [
    ['publish', 0, 1],
    ['hold', 3, 1],
    ['publish', 3, 4],
  ] as const) {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const warnings: number[] = []
    let checks = 0
    let remaining: number = hidden
    const ledger = {
      async pendingScans() {
        checks++
        return { count: remaining, hidden: remaining, oldest: 0 }
      },
      overdueScans: async () => ['A'],
      async showUnscanned() {
        remaining--
      },
    }
    const parts = {
      ledger,
      moves: { carryOut: async () => {} },
      rules: { when: 'off', fault, limitMs: 1000 },
      scanner: null,
      now: () => 1000,
      onFailure: assert.ifError,
      onUnseen: (count: number) => warnings.push(count),
      intervalMs: 1,
    }
    const scanning = createScanning(parts as unknown as Parameters<typeof createScanning>[0])
    scanning.start()
    for (let count = 0; count < 20; count++) {
      t.mock.timers.tick(1)
      await new Promise(setImmediate)
    }
    await scanning.stop()
    assert.equal(checks, expectedChecks, `${fault}, ${hidden}`)
    assert.deepEqual(warnings, hidden === 0 ? [] : [hidden])
    t.mock.timers.reset()
  }
})

it('answers a retry of the last upload of the day while its image waits for a scan', async (t) => {
  const server = await startServer({ SCAN: 'before', UPLOADS_PER_DAY: '1' })
  t.after(() => server.stop())
  const bytes = gif()
  const send = () => post(server.url, bytes, undefined, { headers: { 'Idempotency-Key': 'k'.repeat(22) } })
  const first = await send()
  assert.equal(first.status, 201, first.text)
  assert.match(server.stderr(), /nobody can scan/)
  assert.equal((await fetchRaw(server.url, first.json().id)).json().error, 'held')
  assert.equal((await send()).text, first.text)
})

for (const [fault, headers] of [
  ['publish', {}],
  ['refuse', { 'Idempotency-Key': 'k'.repeat(22) }],
] as const)
  it(`holds an image by the verdict on its upload, without a second scan, with SCAN_FAULT=${fault}`, async (t) => {
    const { scanner, server } = await started(t, { SCAN: 'before', SCAN_FAULT: fault })
    const bytes = withAnswer(scanner, verdict('hold', { category: 'violence' }))
    const answer = await post(server.url, bytes, undefined, { headers })
    assert.equal(answer.status, 201, answer.text)
    const { id } = answer.json()
    assert.match((await fetchRaw(server.url, id)).json().detail, /being reviewed/)
    assert.match((await server.operator(['show', id])).stdout, /violence/)
    assert.equal(scanner.looksAt(bytes), 1)
  })

it('scans the uploads of an honest crowd while one network sends images that take as long as they may', async (t) => {
  const env = { TRUSTED_PROXIES: '127.0.0.1', SCAN_SECONDS: '30', SCAN_FAULT: 'refuse' }
  const { scanner, server } = await started(t, { SCAN: 'before', ...env })
  const send = (bytes: Buffer, address: string) =>
    post(server.url, bytes, undefined, { headers: { 'X-Forwarded-For': address } })
  let ended = 0
  const slow = Array.from({ length: 40 }, (_, index) =>
    send(withAnswer(scanner, 'silent'), `192.0.2.${index % 5}`)
      .catch(() => {})
      .finally(() => ended++),
  )
  await until('the network has its share of the scanner', () => scanner.asked.length >= 3)
  const crowd = Array.from({ length: 12 }, (_, index) => send(gif(), `198.51.${index}.1`))
  for (const { status, text } of await Promise.all(crowd)) assert.equal(status, 201, text)
  assert.equal(ended, 0)
  await server.kill()
  await Promise.all(slow)
})

it('starts no scan that cannot end in time while others are in progress', async (t) => {
  let now = 0
  let waitMs = 0
  t.mock.method(performance, 'now', () => now)
  const pending: (() => void)[] = []
  const scan = () =>
    new Promise((resolve) => pending.push(() => resolve({ verdict: 'clean', category: null, finding: '' })))
  const enter = async () => {
    now += waitMs
    return { admitted: true, end() {} }
  }
  const gate = createScanGate({
    scanner: { scan },
    scanQueue: { enter },
    rules: { when: 'before', fault: 'publish', limitMs: 60_000 },
    ledger: { block: assert.fail },
    now: Date.now,
    onFailure() {},
  } as unknown as Parameters<typeof createScanGate>[0])
  const image = {} as Parameters<typeof gate>[1]
  const send = () => gate([{} as Parameters<typeof gate>[0][0]], image, { address: 'a', network: 'n' })
  const started = (count: number) => until(`${count} scans have started`, () => pending.length === count)
  const first = send()
  await started(1)
  now += 20_000
  pending[0]!()
  assert.equal((await first).storeAs, 'scanned')
  waitMs = 30_000
  const inTime = send()
  await started(2)
  waitMs = 50_000
  assert.equal((await send()).storeAs, 'later')
  assert.equal(pending.length, 2)
  pending[1]!()
  assert.equal((await inTime).storeAs, 'scanned')
  const alone = send()
  await started(3)
  pending[2]!()
  assert.equal((await alone).storeAs, 'scanned', 'one that is alone takes nothing from others')
})

it('hands out a few images of one address before the hundredth of another', async (t) => {
  const operatorToken = 'a-token-of-more-than-24-characters'
  const door = `127.0.0.1:${await freePort()}`
  const env = { OPERATOR_LISTEN: door, OPERATOR_TOKEN: operatorToken, TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startServer({ SCAN: 'after', ...env })
  t.after(() => server.stop())
  const storeFrom = async (address: string) => {
    const headers = { 'X-Forwarded-For': address }
    return (await post(server.url, gif(), undefined, { headers })).json().id
  }
  const [one, other]: string[][] = [[], []]
  for (let count = 0; count < 4; count++) one!.push(await storeFrom('192.0.2.1'))
  for (let count = 0; count < 2; count++) other!.push(await storeFrom('192.0.2.2'))
  const claimed: string[] = []
  for (let count = 0; count < 6; count++) {
    const answer = await request(`http://${door}`, 'POST', '/scans/claim', {
      headers: { Host: door, Authorization: `Bearer ${operatorToken}` },
      body: Buffer.from('{"limit": 1}'),
    })
    claimed.push(answer.json().scans[0].id)
  }
  assert.deepEqual(claimed, [one![0], other![0], one![1], other![1], one![2], one![3]])
})

/** Uploads that wait for a pull scanner. After a second they are refused or shown. */
async function waitingUploads(t: TestContext, fault: 'refuse' | 'publish' = 'refuse') {
  const { objects, ledger } = await storesOf(t)
  const clock = { now: Date.now() }
  const now = () => clock.now
  const rules = { when: 'before', fault, limitMs: 1000 } as const
  const onFailure = assert.ifError
  const parts = { objects, ledger, purges: NO_PURGES, hashes: nodeHashes, now, onFailure }
  const moves = createMoves(parts)
  const gate = createScanGate({ ...parts, scanner: null, rules })
  const imagesWith = (overrides: Partial<Parameters<typeof imagesOn>[0]>) =>
    imagesOn({ ...parts, scans: { gate, moves, carryOut: assert.fail }, ...overrides })
  const images = imagesWith({})
  const takedownOn = (custom: typeof ledger) =>
    createTakedown({ ...parts, ledger: custom, moves, evidence: null })
  const takedown = takedownOn(ledger)
  const scanningOn = (custom: typeof ledger, onFailure = parts.onFailure) => {
    const given = { ...parts, ledger: custom, takedown, moves, images, scanner: null, rules, onFailure }
    return createScanning({ ...given, onUnseen() {} })
  }
  return { objects, ledger, clock, moves, images, imagesWith, takedown, takedownOn, scanningOn }
}

it('does not refuse an overdue image that got its verdict or was held since it was listed', async (t) => {
  const { objects, ledger, clock, images, takedown, scanningOn } = await waitingUploads(t)
  const scanner = scanningOn(ledger)
  const late = scanningOn({
    ...ledger,
    async overdueScans(...given) {
      const listed = await ledger.overdueScans(...given)
      assert.deepEqual([...listed].sort(), [...ids].sort())
      const { claim } = tasks.find(({ id }) => id === clean)!
      assert.ok(await scanner.decide(clean!, claim, { verdict: 'clean', category: null, finding: '' }))
      await takedown.hold(held!, 'to be looked at')
      return listed
    },
  })
  const ids: string[] = []
  for (let index = 0; index < 3; index++) {
    const { record } = await images.publish(inChunks(gif({ size: 500 + index })))
    ids.push(record.id)
  }
  const [clean, held, unscanned] = ids
  const tasks = await scanner.claim(3)
  clock.now += 2000
  late.start()
  await late.stop()
  assert.ok(await images.find(clean!), 'the clean image is visible')
  assert.ok(await objects.headHeld(held!), 'the held image is held')
  assert.equal(await images.find(unscanned!), null)
  assert.equal(await objects.headHeld(unscanned!), null, 'the image without a verdict is removed')
})

it('does not refuse an upload that is not stored yet, and gives a retry the full time limit', async (t) => {
  const { objects, ledger, clock, images, imagesWith, scanningOn } = await waitingUploads(t)
  const scanning = scanningOn(ledger)
  const identity = { id: ID, key: ID + 'k'.repeat(32), isDerived: true }
  const bytes = gif()
  const draft: typeof objects.draft = async (body, limitBytes) => {
    const draft = await objects.draft(body, limitBytes)
    return { ...draft, commit: () => draft.discard().then(() => Promise.reject(new StoreUnavailable())) }
  }
  const failing = imagesWith({ objects: { ...objects, draft } })
  await assert.rejects(failing.publish(inChunks(bytes), { identity }), { code: 'unavailable' })
  clock.now += 2000
  const handleOverdue = async () => {
    scanning.start()
    await scanning.stop()
  }
  await handleOverdue()
  assert.equal(await ledger.isGone(ID), false)
  assert.equal((await images.publish(inChunks(bytes), { identity })).isRepeat, false)
  await handleOverdue()
  assert.ok(await objects.headHeld(ID), 'it is still waiting')
  clock.now += 2000
  await handleOverdue()
  assert.equal(await objects.headHeld(ID), null)
  assert.equal(await ledger.isGone(ID), true)
})

for (const outage of ['server', 'ledger'] as const)
  it(`keeps an image until its verdict if an outage of the ${outage} used up its time`, async (t) => {
    const { objects, ledger, clock, images, scanningOn } = await waitingUploads(t)
    let isDown = outage === 'ledger'
    const failing = {
      ...ledger,
      overdueScans: (...given: Parameters<typeof ledger.overdueScans>) =>
        isDown ? Promise.reject(new LedgerUnavailable()) : ledger.overdueScans(...given),
    }
    const before = scanningOn(failing, () => {})
    const { id } = (await images.publish(inChunks(gif()))).record
    clock.now += 2000
    const scanning = outage === 'server' ? scanningOn(ledger) : before
    for (let runs = 0; runs < 2; runs++) {
      scanning.start()
      await scanning.stop()
      isDown = false
    }
    assert.ok(await objects.headHeld(id))
    const [task] = await scanning.claim(1)
    assert.ok(await scanning.decide(id, task!.claim, { verdict: 'clean', category: null, finding: '' }))
    assert.ok(await images.find(id))
  })

it('counts an upload whose image is stored but could not be hidden', async (t) => {
  const { objects, ledger, images, imagesWith } = await waitingUploads(t)
  const identity = { id: ID, key: ID + 'k'.repeat(32), isDerived: true }
  const failing = imagesWith({
    ledger: { ...ledger, hideForScan: () => Promise.reject(new LedgerUnavailable()) },
  })
  let isCounted = false
  const onStored = () => {
    isCounted = true
  }
  const bytes = gif()
  await assert.rejects(failing.publish(inChunks(bytes), { identity, onStored }), { code: 'unavailable' })
  // The retry finds the image, and so does not count.
  assert.equal((await images.publish(inChunks(bytes), { identity })).isRepeat, true)
  assert.ok(await objects.headHeld(ID))
  assert.equal(isCounted, true)
})

it('does not show an image with the verdict `hold` before its second scan is due', async (t) => {
  const { objects, ledger, clock, moves, imagesWith, scanningOn } = await waitingUploads(t, 'publish')
  const identity = { id: ID, key: ID + 'k'.repeat(32), isDerived: true }
  const gate = async () => {
    const verdict = { verdict: 'hold', category: null, finding: 'odd' } as const
    return { storeAs: 'hidden', verdict } as const
  }
  const images = imagesWith({
    scans: { gate, moves, carryOut: () => Promise.reject(new LedgerUnavailable()) },
  })
  const bytes = gif()
  await assert.rejects(images.publish(inChunks(bytes), { identity }), { code: 'unavailable' })
  assert.equal((await images.publish(inChunks(bytes), { identity })).isRepeat, true)
  clock.now += 59_000
  const scanning = scanningOn(ledger)
  scanning.start()
  await scanning.stop()
  assert.ok(await objects.headHeld(ID), 'it is still hidden')
})

for (const when of ['waits for its scan', 'is stored slowly', 'is paused'] as const)
  it(`refuses bytes that the operator blocks while an upload of them ${when}`, async (t) => {
    const { objects, ledger, takedown, imagesWith } = await waitingUploads(t)
    const bytes = gif()
    const block = () => takedown.block(sha256Of(bytes), 'terms')
    const blockForLong = async () => {
      await block()
      const later = performance.now() + 5000
      t.mock.method(performance, 'now', () => later)
    }
    const draft: typeof objects.draft = async (body, limitBytes) => {
      const draft = await objects.draft(body, limitBytes)
      return { ...draft, commit: (...args) => blockForLong().then(() => draft.commit(...args)) }
    }
    const whileWaiting: Record<typeof when, Parameters<typeof imagesWith>[0]> = {
      'waits for its scan': {
        ledger: { ...ledger, recordScan: (scan) => block().then(() => ledger.recordScan(scan)) },
      },
      'is stored slowly': { objects: { ...objects, draft }, scans: undefined },
      'is paused': {
        ledger: {
          ...ledger,
          async withheldReason(digests) {
            const answer = await ledger.withheldReason(digests)
            if (answer === null) await blockForLong()
            return answer
          },
        },
        scans: undefined,
      },
    }
    await assert.rejects(imagesWith(whileWaiting[when]).publish(inChunks(bytes)), { code: 'blocked-image' })
    assert.deepEqual([await listOf(objects), await heldOf(objects)], [[], []])
  })

it('keeps a finding beside the texts of ten reporters, and the receipt that further ones share', async (t) => {
  const { ledger, images, scanningOn } = await waitingUploads(t)
  const { id } = (await images.publish(inChunks(gif()))).record
  const [task] = await scanningOn(ledger).claim(1)
  for (let count = 0; count < 10; count++) await file(ledger, { id })
  await scanningOn(ledger).decide(id, task!.claim, { verdict: 'hold', category: null, finding: 'odd 0.5' })
  const texts = (await ledger.reportsOf(id, 20)).map(({ text }) => text)
  assert.ok(texts.includes('Scanner: odd 0.5'), texts.join())
  const next = report({ id })
  assert.equal(await ledger.fileReport(next, MAX_KEPT), 'counted')
  assert.equal((await ledger.receipt(next.sharedReceiptSha256))?.isShared, true)
})

for (const by of ['a verdict', 'a deletion'] as const)
  it(`applies ${by} to an image that is about to be shown`, async (t) => {
    const { objects, ledger, moves, images, scanningOn } = await waitingUploads(t, 'publish')
    const { record, key } = await images.publish(inChunks(gif()))
    const { id } = record
    const scanner = scanningOn(ledger)
    const [task] = await scanner.claim(1)
    // The process dies before it shows the image.
    await ledger.showUnscanned(id)
    const hold = { verdict: 'hold', category: null, finding: '' } as const
    const result = by === 'a deletion' ? images.remove(key) : scanner.decide(id, task!.claim, hold)
    assert.equal(await result, true)
    await moves.carryOut(id)
    assert.equal(await objects.head(id), null)
    assert.equal((await objects.headHeld(id)) !== null, by === 'a verdict')
  })

for (const by of ['a hold', 'a retry'] as const)
  it(`finds an image for ${by} if it is shown during the lookup`, async (t) => {
    const { objects, ledger, moves, images, imagesWith, takedownOn } = await waitingUploads(t, 'publish')
    const identity = { id: ID, key: ID + 'k'.repeat(32), isDerived: true }
    const bytes = gif()
    await images.publish(inChunks(bytes), { identity })
    const absenceReason: typeof ledger.absenceReason = async (id) => {
      await ledger.showUnscanned(id)
      await moves.carryOut(id)
      return ledger.absenceReason(id)
    }
    const showing = { ...ledger, absenceReason }
    if (by === 'a hold') assert.equal(await takedownOn(showing).hold(ID, 'x'), true)
    else {
      assert.equal(
        (await imagesWith({ ledger: showing }).publish(inChunks(bytes), { identity })).isRepeat,
        true,
      )
      assert.ok(await objects.head(ID), 'it is not hidden again')
    }
  })

it('keeps the expiry of an upload that takes longer to be stored than its lifetime', async (t) => {
  const { objects, ledger, clock, images } = await waitingUploads(t)
  await ledger.recordScan({ id: ID, at: clock.now, dueAt: clock.now, isHidden: true })
  await ledger.recordExpiries([{ id: ID, expiresAt: clock.now }])
  clock.now += 60_000
  const now = () => clock.now
  const expiring = createExpiring({
    objects,
    ledger,
    images,
    purges: NO_PURGES,
    clock: { latest: now, earliest: now },
    onFailure: assert.ifError,
  })
  expiring.start()
  await expiring.stop()
  assert.notEqual(await ledger.nextExpiry(), null)
})
