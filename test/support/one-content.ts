/**
 * Model test: an id that was ever handed out shows one content or none. Runs random operations on a few idempotency keys
 * ("names") and images, on two servers that share a store and a ledger. After each step, every id ever handed out is checked.
 */

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { parseConfig } from '../../src/config.ts'
import { Refusal, type RefusalCode } from '../../src/errors.ts'
import { backUp } from '../../src/node/backup/backup.ts'
import { restore } from '../../src/node/backup/restore.ts'
import { nodeHashes } from '../../src/node/hashes.ts'
import { createLog } from '../../src/node/log.ts'
import { openStores, type Stores } from '../../src/node/open/stores.ts'
import { createDerive } from '../../src/service/images/identities.ts'
import type { Images } from '../../src/service/images/images.ts'
import { createTakedown, type Takedown } from '../../src/service/moderation/takedown.ts'
import { type Ledger, LedgerUnavailable } from '../../src/stores/ledger.ts'
import { newFolder } from './folder.ts'
import { gif } from './images/tiny-images.ts'
import type { Env } from './processes/process.ts'
import { sha256Of } from './sha256.ts'
import { bodyOf, inChunks } from './stored-images.ts'
import { imagesOn } from './stores.ts'

const [NAMES, CONTENTS] = [2, 3]

const operation = fc.constantFrom(
  'upload',
  'upload',
  'upload',
  'delete',
  'deleteAlone',
  'hold',
  'release',
  'remove',
  'block',
)
const action = fc.record({
  operation,
  name: fc.nat(NAMES - 1),
  content: fc.nat(CONTENTS - 1),
  server: fc.nat(1),
})
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

/** The actions of a step run concurrently. */
const step = fc.oneof(
  { weight: 9, arbitrary: fc.array(action, { minLength: 1, maxLength: 1 }) },
  { weight: 4, arbitrary: fc.array(action, { minLength: 2, maxLength: 5 }) },
  { weight: 3, arbitrary: fc.constantFrom('back up' as const, 'restore' as const) },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const of = (operation: Action['operation'], name: number, content: number): Action[] => [
  { operation, name, content, server: 0 },
]

/** Cases that random runs rarely hit: images that the restored machine never knew, or knows under an earlier id. */
const EXAMPLES: [Step[]][] = [
  // A held image can't be uploaded under another name either.
  [[of('upload', 0, 0), of('hold', 0, 0), of('upload', 1, 0)]],
  ...(['delete', 'deleteAlone', 'remove', 'hold'] as const).map((operation): [Step[]] => [
    [of('upload', 1, 0), 'back up', of('upload', 0, 0), of(operation, 0, 0), 'restore', of('upload', 0, 1)],
  ]),
  [
    [
      ...[of('upload', 0, 0), of('hold', 0, 0), 'back up' as const, 'restore' as const],
      [...of('upload', 0, 0), ...of('release', 0, 0), ...of('upload', 0, 0)],
    ],
  ],
]

interface Server {
  stores: Stores
  images: Images
  /** The same images, with an unreachable ledger. */
  alone: Images
  takedown: Takedown
  derive: ReturnType<typeof createDerive>
}

/** The known state, as far as it is certain. */
interface Certain {
  /** Ids that were deleted or removed. */
  gone: Set<string>
  /** Held ids, with the index of their content. */
  held: Map<string, number>
}

/** Error codes that an upload may get. */
const REFUSALS: RefusalCode[] = ['idempotency-key-reused', 'removed', 'held', 'blocked-image', 'unavailable']

export function oneContent(runs: number, place: (dataDir: string) => Promise<Env>): Promise<void> {
  return fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const folder = await newFolder()
      const run = await begin(folder, place)
      try {
        for (const each of steps) {
          if (each === 'back up') await run.backUp()
          else if (each === 'restore') await run.restore()
          else if (each.length === 1) await run.runOne(each[0]!)
          else await run.runConcurrently(each)
          await run.checkAll()
        }
      } finally {
        await run.end()
        await rm(folder, { recursive: true, force: true })
      }
    }),
    { numRuns: runs, examples: EXAMPLES },
  )
}

async function begin(folder: string, place: (dataDir: string) => Promise<Env>) {
  const contents = Array.from({ length: CONTENTS }, (_, index) =>
    gif({ size: index === 0 ? 300_000 : 500 + index }),
  )
  const names = Array.from({ length: NAMES }, () => crypto.randomUUID())
  const log = createLog('silent')
  /** SHA-256 of the first content that each id showed. */
  const shown = new Map<string, string>()
  /** Ids and deletion keys handed out for each name, the latest last. */
  const issued = names.map((): { id: string; key: string }[] => [])
  let certain: Certain = { gone: new Set(), held: new Map() }
  let saved: Certain | null = null
  let machines = 0
  let env: Env
  let servers: Server[] = []

  const configOf = () => parseConfig({ LOG_LEVEL: 'silent', ...env })

  async function open(): Promise<void> {
    const stores = [await openStores(configOf(), log, { as: 'server' })]
    stores.push(await openStores(configOf(), log, { as: 'server' }))
    servers = stores.map((each) => {
      const images = imagesOn(each)
      const alone = imagesOn({ ...each, ledger: unreachable(each.ledger) })
      const takedown = createTakedown({ ...each, now: Date.now, evidence: null })
      return { stores: each, images, alone, takedown, derive: createDerive(each.ledger, nodeHashes) }
    })
  }

  async function close(): Promise<void> {
    for (const { stores } of servers) await stores.close()
    servers = []
  }

  async function newMachine(): Promise<void> {
    const dataDir = join(folder, `machine-${++machines}`)
    env = { DATA_DIR: dataDir, ...(await place(dataDir)) }
  }

  const latest = (name: number) => issued[name]!.at(-1)
  const latestOfAll = () => issued.flatMap((each) => each.slice(-1))

  async function upload({ name, content, server }: Action): Promise<RefusalCode | 'stored'> {
    const { images, derive } = servers[server]!
    const identity = await derive(names[name]!)
    try {
      const { record, key } = await images.publish(inChunks(contents[content]!), { identity })
      if (latest(name)?.id !== record.id) issued[name]!.push({ id: record.id, key })
      assert.equal(
        record.sha256,
        shown.get(record.id) ?? record.sha256,
        'an id is issued for one content only',
      )
      shown.set(record.id, record.sha256)
      return 'stored'
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      assert.ok(REFUSALS.includes(error.code), error.code)
      return error.code
    }
  }

  /** `null`: no id was issued for this name yet. */
  async function perform(each: Action): Promise<boolean | RefusalCode | 'stored' | null> {
    if (each.operation === 'upload') return upload(each)
    const [target, server] = [latest(each.name), servers[each.server]!]
    if (target === undefined) return null
    const refused = (error: unknown) => {
      if (error instanceof Refusal) return error.code
      throw error
    }
    switch (each.operation) {
      case 'delete':
        return server.images.remove(target.key).catch(refused)
      case 'deleteAlone':
        return server.alone.remove(target.key).catch(refused)
      case 'hold':
      case 'release':
        return server.takedown[each.operation](target.id, 'x')
      default:
        return (await server.takedown.remove(target.id, 'x', { block: each.operation === 'block' })).removed
    }
  }

  async function view(id: string): Promise<void> {
    for (const { images } of servers) {
      const image = await images.open(id).catch((error) => {
        if (error instanceof Refusal) return null
        throw error
      })
      if (image === null) continue
      const sha256 = sha256Of(await bodyOf(image))
      assert.equal(sha256, shown.get(id) ?? sha256, 'an id always shows the same content')
      shown.set(id, sha256)
      assert.ok(!certain.gone.has(id), 'a removed image stays gone')
      assert.ok(!certain.held.has(id), 'a held image is not visible')
    }
  }

  await newMachine()
  await open()

  return {
    /** Runs a single action, whose outcome is predictable. */
    async runOne(each: Action): Promise<void> {
      const { id } = await servers[0]!.derive(names[each.name]!)
      const isFree = !shown.has(id)
      const [wasGone, withheld] = [certain.gone.has(id), [...certain.held.values()].includes(each.content)]
      const target = latest(each.name)
      const outcome = await perform(each)
      if (each.operation === 'upload') {
        if (wasGone || certain.held.has(id)) assert.notEqual(outcome, 'stored')
        if (withheld && isFree) assert.ok(['held', 'blocked-image'].includes(`${outcome}`), `${outcome}`)
        if (outcome === 'stored') assert.ok(!wasGone)
        return
      }
      if (target === undefined) return
      if (each.operation === 'hold' && outcome === true) {
        const index = contents.findIndex((bytes) => sha256Of(bytes) === shown.get(target.id))
        certain.held.set(target.id, index)
      } else if (each.operation === 'release') certain.held.delete(target.id)
      else if (each.operation === 'remove' || each.operation === 'block') {
        certain.gone.add(target.id)
        certain.held.delete(target.id)
      } else if (outcome === true) certain.gone.add(target.id)
    },
    async runConcurrently(actions: Action[]): Promise<void> {
      const ids = new Set(await Promise.all(names.map(async (name) => (await servers[0]!.derive(name)).id)))
      let isDone = false
      // Nothing about these names is certain any more except for earlier removals. This affects the ids that they derive and,
      // after a restore, the ids issued last.
      for (const id of ids) certain.held.delete(id)
      for (const { id } of latestOfAll()) certain.held.delete(id)
      const viewer = (async () => {
        while (!isDone) {
          for (const id of ids) await view(id)
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      try {
        await Promise.all(actions.map(perform))
      } finally {
        isDone = true
        await viewer
      }
      // Restores a known state, whichever of hold and release came last.
      for (const { id } of latestOfAll()) {
        await servers[0]!.takedown.release(id, 'x')
        // After a restore, a name derives another id than the one issued last.
        certain.held.delete(id)
      }
    },
    async checkAll(): Promise<void> {
      for (const id of shown.keys()) await view(id)
    },
    async backUp(): Promise<void> {
      await backUp({
        config: configOf(),
        stores: servers[0]!.stores,
        to: `file:${join(folder, 'backup')}`,
        bytesPerSecond: null,
        onProgress: () => {},
      })
      saved = { gone: new Set(certain.gone), held: new Map(certain.held) }
    },
    /** Simulates the loss of the machine, with everything after the backup. */
    async restore(): Promise<void> {
      if (saved === null) return
      await close()
      await newMachine()
      const from = `file:${join(folder, 'backup')}`
      await restore({
        config: configOf(),
        log,
        from,
        name: undefined,
        withoutTombstones: false,
        onProgress: () => {},
      })
      // Removals that only the store knew are lost with it.
      certain = { gone: new Set(), held: new Map(saved.held) }
      await open()
    },
    end: close,
  }
}

/** A ledger whose every call fails. */
function unreachable(ledger: Ledger): Ledger {
  return new Proxy(ledger, { get: () => () => Promise.reject(new LedgerUnavailable()) })
}
