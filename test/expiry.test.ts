/**
 * Property test of expiry over random uploads, views, deletions, killed batches, restarts, restores, and clocks that jump by
 * ten days: no image is shown after its expiry or gone before it, and its bytes are removed soon after.
 */

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRaw } from '../src/http/routes/raw.ts'
import { checkImages } from '../src/node/verify/check.ts'
import { createExpiryClock, MAX_PAUSE_MS, UNSURE_MS } from '../src/service/expiry-clock.ts'
import { createExpiring } from '../src/service/images/expiring.ts'
import { NO_PURGES } from '../src/service/images/purges.ts'
import { removeGone } from '../src/service/recovery/reconcile.ts'
import { transferImages, unexpired } from '../src/service/recovery/transfer.ts'
import { type FilesystemStore, openFilesystemStore } from '../src/stores/filesystem/store.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import type { ObjectStore } from '../src/stores/object-store.ts'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { extent } from './support/extent.ts'
import { newFolder } from './support/folder.ts'
import { gif } from './support/images/tiny-images.ts'
import { bytesFor, idFor, inChunks, put } from './support/stored-images.ts'
import { imagesOn, storesOf } from './support/stores.ts'

const DAY_MS = 86_400_000
const TEN_DAYS_MS = 10 * DAY_MS
const START = Date.parse('2026-07-01T00:00:00.250Z')

type Step =
  | { act: 'upload'; seconds: number | null; size: number }
  | { act: 'pass'; ms: number }
  | { act: 'view' | 'delete'; index: number }
  | { act: 'jump'; ms: number }
  | { act: 'kill'; after: number }
  | { act: 'restart' | 'back up' | 'restore' | 'work' }

const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('upload' as const),
      seconds: fc.constantFrom(60, 90, 3600, 86_400, 31_536_000, null),
      size: fc.constantFrom(200, 300_000),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constant('pass' as const),
      ms: fc.constantFrom(30_000, 59_000, 61_000, 600_000, 3_600_000, DAY_MS, TEN_DAYS_MS),
    }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('view' as const), index: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('delete' as const), index: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('jump' as const),
      ms: fc.constantFrom(TEN_DAYS_MS, -TEN_DAYS_MS, 20_000, -20_000, 0),
    }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('kill' as const), after: fc.nat(12) }) },
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constantFrom('restart', 'back up', 'restore', 'work') }),
  },
)

const short: Step = { act: 'upload', seconds: 60, size: 300_000 }
const longer: Step = { act: 'upload', seconds: 3600, size: 200 }
const expire: Step = { act: 'pass', ms: 61_000 }
const view: Step = { act: 'view', index: 1 }

/** Sequences that must always be tested. */
const EXAMPLES: [Step[]][] = [
  // A small image, cached in memory.
  [[{ ...short, size: 200 }, view, { act: 'pass', ms: 30_000 }, view, expire, view]],
  [[longer, { act: 'jump', ms: TEN_DAYS_MS }, { act: 'work' }, view, { act: 'jump', ms: 0 }, view]],
  [
    [
      longer,
      { act: 'jump', ms: TEN_DAYS_MS },
      { act: 'restart' },
      { act: 'work' },
      { act: 'jump', ms: 0 },
      view,
    ],
  ],
  [[short, expire, { act: 'jump', ms: -TEN_DAYS_MS }, view, { act: 'restart' }, view, { act: 'work' }, view]],
  [[short, { act: 'back up' }, expire, { act: 'kill', after: 4 }, { act: 'restore' }, view]],
  // On start, a clock that is 20 s ahead looks like downtime.
  [
    [
      short,
      { act: 'jump', ms: 20_000 },
      { act: 'pass', ms: 59_000 },
      view,
      { act: 'restart' },
      { act: 'work' },
      { act: 'jump', ms: 0 },
      view,
    ],
  ],
  [
    [
      { act: 'jump', ms: 20_000 },
      short,
      { act: 'restart' },
      expire,
      { act: 'jump', ms: 0 },
      { act: 'restart' },
      view,
    ],
  ],
]

interface Known {
  id: string
  key: string
  expiresAt: number
  /** Deleted by key, stored after the restored backup, or removed early after a start with a wrong clock. */
  isGone: boolean
}

class Killed extends Error {}

/** Simulates a process that dies after some calls to the port: all further calls fail. */
function dying<T extends object>(port: T, remaining: { calls: number }): T {
  return Object.fromEntries(
    Object.entries(port).map(([name, member]) => [
      name,
      typeof member !== 'function'
        ? member
        : (...args: unknown[]) => {
            if (remaining.calls-- <= 0) return Promise.reject(new Killed())
            return member(...args)
          },
    ]),
  ) as T
}

class World {
  /** The true time. */
  at = START
  /** How far the machine's clock is ahead of it, and since when. */
  jumped = { ms: 0, since: START }
  /** The largest clock error that a start mistook for downtime. */
  private mistakenMs = 0
  readonly images: Known[] = []
  backedUp: Set<string> | null = null
  private stores = 0
  private objects!: FilesystemStore
  private ledger!: Ledger
  private backup!: ObjectStore
  private process!: Awaited<ReturnType<World['begin']>>
  private readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  async open(): Promise<void> {
    this.objects = await this.newStore()
    this.backup = await openFilesystemStore({ folder: join(this.folder, 'backup'), hotSetBytes: 0 })
    this.ledger = await openSqliteLedger({ file: join(this.folder, 'ledger.sqlite') })
    this.process = await this.begin()
    // A server that never ran before can only trust its clock.
    await this.perform({ act: 'upload', seconds: 31_536_000, size: 200 })
    await this.process.clock.observe()
  }

  async close(): Promise<void> {
    await Promise.all([this.objects, this.backup, this.ledger].map((each) => each?.close()))
  }

  private newStore(): Promise<FilesystemStore> {
    return openFilesystemStore({ folder: join(this.folder, `images-${++this.stores}`), hotSetBytes: 1e6 })
  }

  private async begin() {
    const startedAt = this.at
    if (this.jumped.ms <= MAX_PAUSE_MS) this.mistakenMs = Math.max(this.mistakenMs, this.jumped.ms)
    const clock = await createExpiryClock({
      ledger: this.ledger,
      now: () => this.at + this.jumped.ms,
      steady: () => this.at - startedAt,
    })
    const parts = { now: () => this.at + this.jumped.ms, expiryClock: clock }
    const images = imagesOn({ ...parts, objects: this.objects, ledger: this.ledger })
    const raw = createRaw({
      images,
      isPrivate: () => false,
      hot: this.objects.hot,
      cdn: null,
      baseUrl: 'https://pics.example',
      site: { facts: {} } as never,
      log: { info() {}, warn() {}, error() {} } as never,
      expiryClock: clock,
    })
    const expiring = (calls = Number.POSITIVE_INFINITY) => {
      const remaining = { calls }
      const [objects, ledger] = [dying<ObjectStore>(this.objects, remaining), dying(this.ledger, remaining)]
      return createExpiring({
        objects,
        ledger,
        images: imagesOn({ ...parts, objects, ledger }),
        purges: NO_PURGES,
        clock,
        onFailure: (error) => assert.ok(error instanceof Killed, String(error)),
      })
    }
    return { clock, images, raw, expiring }
  }

  /** One run of the expiry job. */
  async work(calls?: number): Promise<void> {
    const job = this.process.expiring(calls)
    job.start()
    await job.stop()
  }

  async perform(step: Step): Promise<void> {
    switch (step.act) {
      case 'upload': {
        const body = inChunks(gif({ size: step.size }))
        const { record, key } = await this.process.images.publish(body, { lifetimeSeconds: step.seconds })
        const expiresAt =
          record.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(record.expiresAt)
        const min = this.at + Math.max(0, this.jumped.ms) + (step.seconds ?? Number.POSITIVE_INFINITY) * 1000
        assert.ok(expiresAt >= min || this.jumped.ms !== 0, 'it lasts as long as requested')
        this.images.push({ id: record.id, key, expiresAt, isGone: false })
        return
      }
      case 'pass':
        this.at += this.jumped.ms === 0 ? step.ms : Math.min(step.ms, 600_000)
        // The clock is corrected within the hour.
        if (this.at - this.jumped.since > UNSURE_MS - 1_200_000) this.jumped = { ms: 0, since: this.at }
        return this.process.clock.observe()
      case 'jump':
        this.jumped = { ms: step.ms, since: this.jumped.ms === 0 ? this.at : this.jumped.since }
        return this.process.clock.observe()
      case 'view':
        if (this.images.length > 0) await this.view(this.images[step.index % this.images.length]!)
        return
      case 'delete': {
        const image = this.images[step.index % Math.max(1, this.images.length)]
        if (image === undefined) return
        const wasThere = await this.process.images.remove(image.key)
        assert.ok(
          wasThere || image.isGone || this.at >= image.expiresAt,
          'its key deletes it before its expiry',
        )
        image.isGone = true
        return
      }
      case 'work':
        return this.work()
      case 'kill':
        return this.work(step.after)
      case 'restart':
        this.process = await this.begin()
        return
      case 'back up':
        await transferImages({
          from: unexpired(this.objects, () => this.at),
          to: this.backup,
          bytesPerSecond: null,
        })
        await removeGone(this.ledger, this.backup)
        this.backedUp = new Set(await Array.fromAsync(this.backup.list()))
        return
      case 'restore':
        return this.restore()
    }
  }

  /** Restores the images after their folder was lost; the ledger is intact. */
  private async restore(): Promise<void> {
    const { backedUp } = this
    if (backedUp === null) return
    await this.objects.close()
    this.objects = await this.newStore()
    await transferImages({
      from: unexpired(
        this.backup,
        () => this.at,
        (expiry) => this.ledger.recordExpiries([expiry]),
      ),
      to: this.objects,
      bytesPerSecond: null,
    })
    await removeGone(this.ledger, this.objects)
    for (const image of this.images) if (!backedUp.has(image.id)) image.isGone = true
    for (const { id, expiresAt } of this.images) {
      if (this.at >= expiresAt)
        assert.ok((await this.objects.head(id)) === null, 'no expired image is restored')
    }
    this.process = await this.begin()
  }

  private async view(image: Known): Promise<void> {
    const { id, expiresAt, isGone } = image
    const isOver = this.at >= expiresAt
    // A clock that is ahead hides images, which reappear when it is corrected, unless a start mistook its error for downtime.
    const mayBeHidden = this.jumped.ms > 0 || this.at >= expiresAt - this.mistakenMs
    let isShown = false
    for (const [target, header] of [
      [`/raw/${id}`, {}],
      [`/raw/${id}.gif?dl=1`, {}],
      [`/raw/${id}`, { range: 'bytes=0-9' }],
      [`/raw/${id}`, { 'if-none-match': '*' }],
    ] as const) {
      const answer = await this.process.raw({
        method: 'GET',
        target,
        isConditional: Object.keys(header).length > 0,
        header: (name) => (header as Record<string, string>)[name],
      })
      assert.ok(answer !== null)
      answer.release?.()
      if (answer.body instanceof ReadableStream) await answer.body.cancel()
      isShown = answer.status < 400
      const where = `${target} ${(this.at - expiresAt) / 1000} s after its expiry`
      assert.ok(!isShown || (!isOver && !isGone), `shown: ${where}`)
      assert.ok(isShown || isOver || isGone || mayBeHidden, `not shown: ${where}`)
      if (isShown) this.checkLifetime(answer.headers, expiresAt)
    }
    for (const [status, target, header] of [
      [416, `/raw/${id}`, { range: 'bytes=9999999-' }],
      [404, `/raw/${id}.png`, { range: 'bytes=9999999-' }],
      [412, `/raw/${id}`, { 'if-match': '"other"' }],
    ] as const) {
      const answer = await this.process.raw({
        method: 'GET',
        target,
        isConditional: true,
        header: (name) => (header as Record<string, string>)[name],
      })
      assert.equal(answer?.status, isShown ? status : 404, target)
    }
    assert.equal(
      (await this.process.images.find(id)) !== null,
      !isOver && !isGone && !(mayBeHidden && (await this.isHidden(image))),
    )
  }

  private async isHidden({ expiresAt }: Known): Promise<boolean> {
    return this.process.clock.latest() >= expiresAt
  }

  private checkLifetime(headers: string[], expiresAt: number): void {
    const value = headers[headers.indexOf('Cache-Control') + 1]!
    const seconds = [...value.matchAll(/(?:max-age|s-maxage)=(\d+)/g)].reduce(
      (sum, [, each]) => sum + Number(each),
      0,
    )
    if (expiresAt !== Number.POSITIVE_INFINITY) assert.ok(this.at + seconds * 1000 <= expiresAt + 1000, value)
  }

  /** No image is gone before its expiry, by more than the clock error that a start mistook for downtime. */
  async checkThere(): Promise<void> {
    for (const image of this.images) {
      const { id, expiresAt, isGone } = image
      if (isGone || this.at >= expiresAt || (await this.objects.head(id)) !== null) continue
      assert.ok(
        this.at >= expiresAt - this.mistakenMs,
        `gone ${(expiresAt - this.at) / 1000} s before its expiry`,
      )
      image.isGone = true
    }
  }

  /** With a correct clock and no kills, bytes are removed within a minute of the expiry. */
  async checkGone(): Promise<void> {
    this.jumped = { ms: 0, since: this.at }
    this.process = await this.begin()
    // A server that cannot know whether its clock is right waits for an hour.
    for (let passed = 0; passed <= UNSURE_MS + 120_000; passed += 60_000) {
      this.at += 60_000
      await this.work()
    }
    for (const image of this.images) {
      if (this.at < image.expiresAt + 60_000 && !image.isGone) continue
      assert.ok((await this.objects.head(image.id)) === null, 'its bytes are still there')
    }
    await this.checkThere()
    for (const image of this.images) await this.view(image)
  }
}

test('does not show an image after its expiry or lose it before, and removes its bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryStep, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
      const folder = await newFolder()
      const world = new World(folder)
      try {
        await world.open()
        for (const step of steps) {
          await world.perform(step)
          await world.checkThere()
        }
        await world.checkGone()
      } finally {
        await world.close()
        await rm(folder, { recursive: true, force: true })
      }
    }),
    { numRuns: extent(150, 10), examples: EXAMPLES },
  )
})

test('refuses a retry of an expired upload, and stores nothing', async (t) => {
  let now = START
  const { publish } = imagesOn({ ...(await storesOf(t)), now: () => now })
  const identity = { id: idFor('e'), key: idFor('e') + 'k'.repeat(32), isDerived: true }
  const bytes = gif()
  const send = () => publish(inChunks(bytes), { identity, lifetimeSeconds: 60 })
  assert.equal((await send()).isRepeat, false)
  now += 59_000
  assert.equal((await send()).isRepeat, true)
  now += 2000
  await assert.rejects(send(), { code: 'idempotency-key-reused', message: /deleted or has expired/ })
})

test('verify reports images that expired long ago, and restores missing expiries in the ledger', async (t) => {
  const { folder, objects, ledger } = await storesOf(t)
  const inHours = (hours: number) =>
    new Date(Math.floor(Date.now() / 1000 + hours * 3600) * 1000).toISOString()
  const [old, recent, later] = [inHours(-30), inHours(-0.1), inHours(5)]
  await put(objects, idFor('old'), bytesFor(1, 900), { expiresAt: old })
  await put(objects, idFor('recent'), bytesFor(2, 900), { expiresAt: recent })
  await put(objects, idFor('later'), bytesFor(3, 900), { expiresAt: later })
  await put(objects, idFor('stays'), bytesFor(4, 900))
  for (const inFolder of [true, false]) {
    const findings = await Array.fromAsync(
      checkImages({
        objects,
        ledger,
        folder: inFolder ? join(folder, 'images') : null,
        bytesPerSecond: null,
        onProgress() {},
        onExpiring: (expiry) => ledger.recordExpiries([expiry]),
      }),
    )
    assert.deepEqual(findings, [{ kind: 'expired', id: idFor('old') }])
  }
  const known = await ledger.claimExpiries(10, Date.now() + DAY_MS, 1000)
  assert.deepEqual(
    known
      .sort((a, b) => a.expiresAt - b.expiresAt)
      .map(({ id, expiresAt }) => [id, new Date(expiresAt).toISOString()]),
    [
      [idFor('old'), old],
      [idFor('recent'), recent],
      [idFor('later'), later],
    ],
  )
})
