/**
 * Images that expire, over random uploads, views, deletions, killed batches, restarts, restores, and clocks that jump by ten
 * days: nothing is shown after its time, nothing is gone before it, and its bytes go soon after.
 */

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRaw } from '../src/http/routes/raw.ts'
import { nodeHashes } from '../src/node/hashes.ts'
import { scan } from '../src/node/verify/scan.ts'
import { createExpiryClock, MAX_PAUSE_MS, UNSURE_MS } from '../src/service/expiry-clock.ts'
import { createExpiring } from '../src/service/images/expiring.ts'
import { createImages } from '../src/service/images/images.ts'
import { NO_PURGES } from '../src/service/images/purges.ts'
import { removeGone } from '../src/service/recovery/reconcile.ts'
import { transferImages, unexpired } from '../src/service/recovery/transfer.ts'
import { type FilesystemStore, openFilesystemStore } from '../src/stores/filesystem/store.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import type { ObjectStore } from '../src/stores/object-store.ts'
import { openSqliteLedger } from '../src/stores/sqlite/ledger.ts'
import { extent } from './support/extent.ts'
import { folderOf, newFolder } from './support/folder.ts'
import { gif } from './support/images/tiny-images.ts'
import { ledgerOf } from './support/ledger.ts'
import { bytesFor, idFor, inChunks, put } from './support/stored-images.ts'

const DAY_MS = 86_400_000
const TEN_DAYS_MS = 10 * DAY_MS
const START = Date.parse('2026-07-01T00:00:00.250Z')

type Act =
  | { act: 'upload'; seconds: number | null; size: number }
  | { act: 'pass'; ms: number }
  | { act: 'view' | 'delete'; nth: number }
  | { act: 'jump'; ms: number }
  | { act: 'kill'; after: number }
  | { act: 'restart' | 'back up' | 'restore' | 'work' }

const acts: fc.Arbitrary<Act> = fc.oneof(
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
  { weight: 4, arbitrary: fc.record({ act: fc.constant('view' as const), nth: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('delete' as const), nth: fc.nat(9) }) },
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

const brief: Act = { act: 'upload', seconds: 60, size: 300_000 }
const longer: Act = { act: 'upload', seconds: 3600, size: 200 }
const over: Act = { act: 'pass', ms: 61_000 }
const seen: Act = { act: 'view', nth: 1 }

/** What must not be left to chance. */
const EXAMPLES: [Act[]][] = [
  // It is in memory.
  [[{ ...brief, size: 200 }, over, seen]],
  [[longer, { act: 'jump', ms: TEN_DAYS_MS }, { act: 'work' }, seen, { act: 'jump', ms: 0 }, seen]],
  [
    [
      longer,
      { act: 'jump', ms: TEN_DAYS_MS },
      { act: 'restart' },
      { act: 'work' },
      { act: 'jump', ms: 0 },
      seen,
    ],
  ],
  [[brief, over, { act: 'jump', ms: -TEN_DAYS_MS }, seen, { act: 'restart' }, seen, { act: 'work' }, seen]],
  [[brief, { act: 'back up' }, over, { act: 'kill', after: 4 }, { act: 'restore' }, seen]],
  // A start takes a clock that is 20 s ahead for a pause.
  [
    [
      brief,
      { act: 'jump', ms: 20_000 },
      { act: 'pass', ms: 59_000 },
      seen,
      { act: 'restart' },
      { act: 'work' },
      { act: 'jump', ms: 0 },
      seen,
    ],
  ],
]

interface Known {
  id: string
  key: string
  expiresAt: number
  /** Its key deleted it, it was stored after the backup that is restored, or a mistaken start removed it early. */
  isGone: boolean
}

class Killed extends Error {}

/** The port as a process has it that dies at its `count`th call: that and all that follow fail. */
function dying<T extends object>(port: T, left: { calls: number }): T {
  return Object.fromEntries(
    Object.entries(port).map(([name, member]) => [
      name,
      typeof member !== 'function'
        ? member
        : (...given: unknown[]) => {
            if (left.calls-- <= 0) return Promise.reject(new Killed())
            return member(...given)
          },
    ]),
  ) as T
}

class World {
  /** The true time. */
  at = START
  /** What the machine's clock is ahead of it, and since when. */
  jumped = { ms: 0, since: START }
  /** What a start took for a pause, at most, though its clock was ahead. */
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
    // A server that never ran before has nothing but its clock.
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
    const parts = {
      objects: this.objects,
      ledger: this.ledger,
      purges: NO_PURGES,
      maxUploadBytes: 1e6,
      stripMetadata: true,
      metrics: { upload() {}, removalByKey() {}, report() {} },
      hashes: nodeHashes,
      now: () => this.at + this.jumped.ms,
      expiryClock: clock,
    }
    const images = createImages(parts)
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
      const left = { calls }
      const [objects, ledger] = [dying<ObjectStore>(this.objects, left), dying(this.ledger, left)]
      return createExpiring({
        objects,
        ledger,
        images: createImages({ ...parts, objects, ledger }),
        purges: NO_PURGES,
        clock,
        onFailure: (error) => assert.ok(error instanceof Killed, String(error)),
      })
    }
    return { clock, images, raw, expiring }
  }

  /** Everything that servers do at intervals. */
  async work(calls?: number): Promise<void> {
    const round = this.process.expiring(calls)
    round.start()
    await round.stop()
  }

  async perform(act: Act): Promise<void> {
    switch (act.act) {
      case 'upload': {
        const body = inChunks(gif({ size: act.size }))
        const { record, key } = await this.process.images.publish(body, { lifetimeSeconds: act.seconds })
        const expiresAt =
          record.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(record.expiresAt)
        const least = this.at + Math.max(0, this.jumped.ms) + (act.seconds ?? Number.POSITIVE_INFINITY) * 1000
        assert.ok(expiresAt >= least || this.jumped.ms !== 0, 'it stays as long as was asked for')
        this.images.push({ id: record.id, key, expiresAt, isGone: false })
        return
      }
      case 'pass':
        this.at += this.jumped.ms === 0 ? act.ms : Math.min(act.ms, 600_000)
        // Somebody puts the clock right within the hour.
        if (this.at - this.jumped.since > UNSURE_MS - 1_200_000) this.jumped = { ms: 0, since: this.at }
        return this.process.clock.observe()
      case 'jump':
        this.jumped = { ms: act.ms, since: this.jumped.ms === 0 ? this.at : this.jumped.since }
        return this.process.clock.observe()
      case 'view':
        if (this.images.length > 0) await this.view(this.images[act.nth % this.images.length]!)
        return
      case 'delete': {
        const image = this.images[act.nth % Math.max(1, this.images.length)]
        if (image === undefined) return
        const wasThere = await this.process.images.remove(image.key)
        assert.ok(wasThere || image.isGone || this.at >= image.expiresAt, 'its key deletes it early')
        image.isGone = true
        return
      }
      case 'work':
        return this.work()
      case 'kill':
        return this.work(act.after)
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
        this.backedUp = new Set(await allOf(this.backup.list()))
        return
      case 'restore':
        return this.restore()
    }
  }

  /** The folder is lost, the ledger is not. */
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
      if (this.at >= expiresAt) assert.ok((await this.objects.head(id)) === null, 'what expired comes back')
    }
    this.process = await this.begin()
  }

  private async view(image: Known): Promise<void> {
    const { id, expiresAt, isGone } = image
    const isOver = this.at >= expiresAt
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
      const isShown = answer.status < 400
      const where = `${target} ${(this.at - expiresAt) / 1000} s after its time`
      assert.ok(!isShown || (!isOver && !isGone), `shown: ${where}`)
      // A clock that is ahead hides what will be there again when it is put right.
      assert.ok(isShown || isOver || isGone || this.jumped.ms > 0, `not shown: ${where}`)
      if (isShown) this.checkLifetime(answer.headers, expiresAt)
    }
    assert.equal(
      (await this.process.images.find(id)) !== null,
      !isOver && !isGone && !(this.jumped.ms > 0 && (await this.isHidden(image))),
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

  /** Nothing is gone before its time, but by as much as a start was mistaken. */
  async checkThere(): Promise<void> {
    for (const image of this.images) {
      const { id, expiresAt, isGone } = image
      if (isGone || this.at >= expiresAt || (await this.objects.head(id)) !== null) continue
      assert.ok(
        this.at >= expiresAt - this.mistakenMs,
        `gone ${(expiresAt - this.at) / 1000} s before its time`,
      )
      image.isGone = true
    }
  }

  /** When the clock is right and nobody is killed, bytes go within a minute. */
  async checkGone(): Promise<void> {
    this.jumped = { ms: 0, since: this.at }
    this.process = await this.begin()
    // A server that does not know whether its clock is right waits for somebody to put it right.
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

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('nothing is shown after its time or gone before it, and its bytes go', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
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

test('a repeat of an upload that expired is refused, and stores nothing', async (t) => {
  const folder = await folderOf(t)
  const objects = await openFilesystemStore({ folder: join(folder, 'images'), hotSetBytes: 0 })
  const ledger = await ledgerOf(t, folder)
  t.after(() => objects.close())
  let now = START
  const { publish } = createImages({
    objects,
    ledger,
    purges: NO_PURGES,
    maxUploadBytes: 1000,
    stripMetadata: true,
    metrics: { upload() {}, removalByKey() {}, report() {} },
    hashes: nodeHashes,
    now: () => now,
    expiryClock: { latest: () => now },
  })
  const identity = { id: idFor('e'), key: idFor('e') + 'k'.repeat(32), isDerived: true }
  const bytes = gif()
  const send = () => publish(inChunks(bytes), { identity, lifetimeSeconds: 60 })
  assert.equal((await send()).isRepeat, false)
  now += 59_000
  assert.equal((await send()).isRepeat, true)
  now += 2000
  await assert.rejects(send(), { code: 'idempotency-key-reused', message: /deleted or expired/ })
})

test('verify names what expired long ago, and tells a ledger that does not know of all that expires', async (t) => {
  const folder = await folderOf(t)
  const objects = await openFilesystemStore({ folder: join(folder, 'images'), hotSetBytes: 0 })
  const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') })
  const inHours = (hours: number) =>
    new Date(Math.floor(Date.now() / 1000 + hours * 3600) * 1000).toISOString()
  try {
    const [old, recent, later] = [inHours(-30), inHours(-0.1), inHours(5)]
    await put(objects, idFor('old'), bytesFor(1, 900), { expiresAt: old })
    await put(objects, idFor('recent'), bytesFor(2, 900), { expiresAt: recent })
    await put(objects, idFor('later'), bytesFor(3, 900), { expiresAt: later })
    await put(objects, idFor('stays'), bytesFor(4, 900))
    for (const inFolder of [true, false]) {
      const findings = await allOf(
        scan({
          objects,
          ledger,
          folder: inFolder ? join(folder, 'images') : null,
          after: '',
          withHeld: false,
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
  } finally {
    await objects.close()
    await ledger.close()
  }
})
