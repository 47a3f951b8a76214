/** Drills: backups under load, then data is lost. What was decided since comes from off-site tombstones, or from the ledger. */
import { mkdtempDisposable, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, type Stored, store } from '../support/upload.ts'
import type { Drill, Tally } from './drill.ts'
import { startLoad } from './load.ts'

/** For one round, and for more. */
const [SHORT, FULL] = [
  { uploads: 80, deletions: 20, decisions: 3 },
  { uploads: 1000, deletions: 200, decisions: 20 },
]

export const lostMachine: Drill = {
  name: 'lost machine',
  story:
    'Two backups under load; deletions, removals, holds and releases follow; then kill -9, and the disk is lost. The restore undoes none.',
  mayFail: false,
  run: (rounds) => restoreAfter('', rounds === 1 ? SHORT : FULL),
}

export const lostImages: Drill = {
  name: 'lost images',
  story: 'The same, but the ledger is left, and has no second location.',
  mayFail: false,
  run: (rounds) => restoreAfter('images', rounds === 1 ? SHORT : FULL),
}

/** `lost`: the part of the data folder that is lost. */
async function restoreAfter(lost: '' | 'images', counts: typeof SHORT): Promise<Tally> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'pinhole-drill-'))
  const [backup, tombstones] = [join(folder.path, 'backup'), join(folder.path, 'tombstones')]
  const server = await startServer({
    UPLOADS_PER_DAY: '1000000',
    LOG_LEVEL: 'warn',
    ...(lost === '' && { TOMBSTONES_URL: `file:${tombstones}` }),
  })
  const operate = async (argv: string[]) => {
    const ran = await server.operator(argv)
    if (ran.code !== 0) throw new Error(`${argv.join(' ')}: ${ran.stdout}${ran.stderr}`)
    return ran.stdout
  }
  const decide = (act: string, images: Stored[], ...flags: string[]) =>
    operate([act, ...images.map(({ id }) => id), ...flags, '--reason', 'drill'])
  const faults: string[] = []
  try {
    // Everything acknowledged before the backup must be in it. Another load makes the later changes.
    const before = startLoad(() => [server.url])
    const [held, released, removed] = await Promise.all(
      [1, 2, 3].map(() => Promise.all(Array.from({ length: counts.decisions }, () => store(server.url)))),
    )
    await decide('hold', released!)
    await before.uploads(counts.uploads * 0.75)
    await operate(['backup', backup])
    await before.uploads(counts.uploads * 0.25)
    await before.stop()
    const during = startLoad(() => [server.url])
    await during.uploads(10)
    const second = await operate(['backup', backup, '--json'])
    if (JSON.parse(second).kept < counts.uploads / 2)
      faults.push(`the second backup copied images again: ${second}`)
    await during.stop()

    const since = Date.now()
    const deletions = await before.removeSome(server.url, counts.deletions)
    await decide('remove', removed!, '--block')
    await decide('hold', held!)
    await decide('release', released!)
    if (lost === '') {
      const deleted = [...before.snapshot()].filter(([, state]) => state === 'deleted').map(([id]) => id)
      const decided = [held, released, removed].flatMap((group) => group!.map(({ id }) => id))
      await untilIn(tombstones, [...deleted, ...decided], since)
    }
    await server.kill()
    await rm(join(server.dataDir, lost), { recursive: true })
    const restored = JSON.parse(await operate(['restore', backup, '--json']))
    if (restored.isPrivate) faults.push('nothing is unknown, but the images are private')
    if (restored.gone < deletions) faults.push('the restore did not apply the deletions')
    await server.restart()
    const tally = await before.check(server.url)
    faults.push(...tally.faults, ...before.errors())
    for (const [images, status] of [
      [held, 403],
      [released, 200],
      [removed, 410],
    ] as const) {
      for (const image of images!) faults.push(...(await faultsOf(server, image, status)))
    }
    for (const { bytes } of removed!)
      if ((await post(server.url, bytes)).status !== 403) faults.push('blocked bytes were accepted')
    return { ...tally, faults: faults.slice(0, 10) }
  } finally {
    await server.stop()
  }
}

async function faultsOf(server: RunningServer, { id, bytes }: Stored, expected: number): Promise<string[]> {
  const { status, body } = await fetchRaw(server.url, id)
  if (status !== expected) return [`${id} returned ${status} instead of ${expected}`]
  return status !== 200 || body.equals(bytes) ? [] : [`${id} has different bytes`]
}

/** Waits until the tombstones of all images and the time until which there are all of them are written. */
async function untilIn(folder: string, ids: string[], since: number): Promise<void> {
  await until('all changes have tombstones', async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    const all = texts.join('')
    return ids.every((id) => all.includes(id))
  })
  const followed = () => readFile(join(folder, 'followed.json'), 'utf8')
  await until(
    'the time is written',
    async () => Date.parse(JSON.parse(await followed()).until) > since,
    120_000,
  )
}
