/** Drill: a machine is lost with its disk. Deletions and decisions since the backup come from the tombstones kept off-site. */
import { mkdtempDisposable, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachConcurrent } from '../../src/async.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type Env, run } from '../support/processes/process.ts'
import { type RunningServer, serverEnv, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, type Stored, store } from '../support/upload.ts'
import type { Drill, Tally } from './drill.ts'

/** For one round. */
const SHORT = { images: 120, deletions: 20, removals: 6, held: 3 }
/** For more than one round. */
const FULL = { images: 5000, deletions: 200, removals: 20, held: 10 }

const CONCURRENCY = 16

export const lostMachine: Drill = {
  name: 'lost machine',
  story:
    'Deletions, removals, holds and releases follow a backup; then kill -9, and the disk is lost. The restore undoes none.',
  mayFail: false,
  run: (rounds) => runDrill(rounds === 1 ? SHORT : FULL),
}

async function runDrill(counts: typeof SHORT): Promise<Tally> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-drill-'))
  const folder = temporary.path
  const [dataDir, backup, tombstones] = ['data', 'backup', 'tombstones'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  const env = { UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn', TOMBSTONES_URL: `file:${tombstones}` }
  const servers: RunningServer[] = []
  const faults: string[] = []
  try {
    const server = await startServer(env, { dataDir })
    servers.push(server)
    const images = await uploads(server, counts.images)
    const take = (count: number) => images.splice(0, count)
    const released = take(counts.held)
    await operate(env, dataDir, ['hold', ...idsOf(released), '--reason', 'drill'])
    await operate(env, dataDir, ['backup', backup])

    const startedAt = Date.now()
    const [deleted, removed, held] = [take(counts.deletions), take(counts.removals), take(counts.held)]
    await each(deleted, async ({ key }) => {
      const { status } = await remove(server.url, key)
      if (status !== 200) faults.push(`a deletion failed with ${status}`)
    })
    await operate(env, dataDir, ['remove', ...idsOf(removed), '--block', '--reason', 'drill'])
    await operate(env, dataDir, ['hold', ...idsOf(held), '--reason', 'drill'])
    await operate(env, dataDir, ['release', ...idsOf(released), '--reason', 'drill'])
    const endedAt = Date.now()
    const changed = [...deleted, ...removed, ...held, ...released]
    await until('all changes have tombstones', async () => (await missingIn(tombstones, changed)) === 0)
    const lagMs = Date.now() - endedAt
    await until(
      'the position is recorded',
      async () => (await followedUntil(tombstones)) > startedAt,
      120_000,
    )
    await server.kill()
    await rm(dataDir, { recursive: true })

    const other = join(folder, 'other')
    const restored = await operate(env, other, ['restore', backup, '--json'])
    if (JSON.parse(restored).isPrivate)
      faults.push(`the tombstones are complete, but the instance is private: ${restored}`)
    const restoredServer = await startServer(env, { dataDir: other })
    servers.push(restoredServer)
    const tally: Tally = { acknowledged: counts.images, lost: 0, risen: 0, errors: 0, faults }
    const expect = (group: Stored[], status: number, count: 'lost' | 'risen') =>
      each(group, async ({ id, bytes }) => {
        const answer = await fetchRaw(restoredServer.url, id)
        const isRight = answer.status === status && (status !== 200 || answer.body.equals(bytes))
        if (!isRight) tally[count]++
      })
    await expect(deleted, 404, 'risen')
    await expect(removed, 410, 'risen')
    await expect(held, 403, 'risen')
    await expect([...images, ...released], 200, 'lost')
    await each(removed, async ({ bytes }) => {
      if ((await post(restoredServer.url, bytes)).status !== 403) faults.push('blocked bytes were accepted')
    })
    process.stderr.write(`  the tombstones lagged ${lagMs} ms behind the last response\n`)
    return tally
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function operate(env: Env, dataDir: string, argv: string[]): Promise<string> {
  const ran = await run(['src/node/operator.ts', ...argv], serverEnv(env, dataDir))
  if (ran.code !== 0) throw new Error(`${argv[0]}: ${ran.stdout}${ran.stderr}`)
  return ran.stdout
}

async function uploads(server: RunningServer, count: number): Promise<Stored[]> {
  const images: Stored[] = []
  await each([...Array(count).keys()], async (index) => {
    images.push(await store(server.url, gif({ size: 400 + (index % 7) * 300 })))
  })
  return images
}

function each<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  return forEachConcurrent(items, CONCURRENCY, work)
}

function idsOf(images: Stored[]): string[] {
  return images.map(({ id }) => id)
}

async function missingIn(folder: string, images: Stored[]): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  const all = texts.join('')
  return images.filter(({ id }) => !all.includes(id)).length
}

async function followedUntil(folder: string): Promise<number> {
  return Date.parse(JSON.parse(await readFile(join(folder, 'followed.json'), 'utf8')).until)
}
