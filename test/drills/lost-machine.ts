/** A machine is lost with its disk. What was deleted and decided after the backup comes from the second place. */
import { mkdtempDisposable, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gif } from '../support/images/tiny-images.ts'
import { type Env, run } from '../support/processes/process.ts'
import { type RunningServer, serverEnv, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, type Stored, store } from '../support/upload.ts'
import type { Drill, Tally } from './drill.ts'

/** One round is short; more are the whole: 5,000 images, 200 deletions, 20 removals. */
const SHORT = { images: 120, deletions: 20, removals: 6, held: 3 }
const WHOLE = { images: 5000, deletions: 200, removals: 20, held: 10 }

const AT_ONCE = 16

export const lostMachine: Drill = {
  name: 'lost machine',
  story:
    'A backup; then deletions, removals, holds and releases; kill -9, and the disk is gone. Restored elsewhere, none of them is undone.',
  mayFail: false,
  run: (rounds) => once(rounds === 1 ? SHORT : WHOLE),
}

async function once(counts: typeof SHORT): Promise<Tally> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-drill-'))
  const folder = temporary.path
  const [dataDir, backup, second] = ['data', 'backup', 'second'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const env = { UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn', TOMBSTONES_URL: `file:${second}` }
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

    const begunAt = Date.now()
    const [deleted, removed, held] = [take(counts.deletions), take(counts.removals), take(counts.held)]
    await each(deleted, async ({ key }) => {
      const { status } = await remove(server.url, key)
      if (status !== 200) faults.push(`a deletion was answered by ${status}`)
    })
    await operate(env, dataDir, ['remove', ...idsOf(removed), '--block', '--reason', 'drill'])
    await operate(env, dataDir, ['hold', ...idsOf(held), '--reason', 'drill'])
    await operate(env, dataDir, ['release', ...idsOf(released), '--reason', 'drill'])
    const endedAt = Date.now()
    const wanted = [...deleted, ...removed, ...held, ...released]
    await until('all are in the second place', async () => (await missingIn(second, wanted)) === 0)
    const behindMs = Date.now() - endedAt
    await until('that is written down', async () => (await followedUntil(second)) > begunAt, 120_000)
    await server.kill()
    await rm(dataDir, { recursive: true })

    const other = join(folder, 'other')
    const restored = await operate(env, other, ['restore', backup, '--json'])
    if (JSON.parse(restored).isPrivate) faults.push(`nothing is unknown, and yet it is private: ${restored}`)
    const again = await startServer(env, { dataDir: other })
    servers.push(again)
    const tally: Tally = { acknowledged: counts.images, lost: 0, risen: 0, errors: 0, faults }
    const expect = (group: Stored[], status: number, count: 'lost' | 'risen') =>
      each(group, async ({ id, bytes }) => {
        const answer = await fetchRaw(again.url, id)
        const isRight = answer.status === status && (status !== 200 || answer.body.equals(bytes))
        if (!isRight) tally[count]++
      })
    await expect(deleted, 404, 'risen')
    await expect(removed, 410, 'risen')
    await expect(held, 403, 'risen')
    await expect([...images, ...released], 200, 'lost')
    await each(removed, async ({ bytes }) => {
      if ((await post(again.url, bytes)).status !== 403) faults.push('bytes are blocked no more')
    })
    process.stderr.write(`  the second place was ${behindMs} ms behind the last answer\n`)
    return tally
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function operate(env: Env, dataDir: string, words: string[]): Promise<string> {
  const ran = await run(['src/node/operator.ts', ...words], serverEnv(env, dataDir))
  if (ran.code !== 0) throw new Error(`${words[0]}: ${ran.stdout}${ran.stderr}`)
  return ran.stdout
}

async function uploads(server: RunningServer, count: number): Promise<Stored[]> {
  const images: Stored[] = []
  await each(Array.from({ length: count }), async (_, nth) => {
    images.push(await store(server.url, gif({ size: 400 + (nth % 7) * 300 })))
  })
  return images
}

async function each<T>(items: T[], work: (item: T, nth: number) => Promise<void>): Promise<void> {
  const left = items.entries()
  const worker = async () => {
    for (const [nth, item] of left) await work(item, nth)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
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
