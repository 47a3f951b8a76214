/** Drills with full, failing and read-only disks. */
import { mkdtempDisposable, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../support/http.ts'
import { ROOT } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import type { Drill } from './drill.ts'
import { onOneServer, type Scene } from './one-server.ts'

const statusOf = (url: string, path: string) => request(url, 'GET', path).then(({ status }) => status)

/** While the fault lasts, the server must be alive but not ready. Afterwards it must become ready again. */
async function during({ server, faults }: Scene, begin: () => unknown, end: () => unknown): Promise<void> {
  await begin()
  try {
    await sleep(500)
    if ((await statusOf(server.url, '/readyz')) !== 503) faults.push('the server reports that it is ready')
    if ((await statusOf(server.url, '/healthz')) !== 200) faults.push('the server is not alive')
  } finally {
    await end()
  }
  await until('the server is ready again', async () => (await statusOf(server.url, '/readyz')) === 200)
}

function failingDisk(name: string, story: string, orders: string[]): Drill {
  return {
    name,
    story,
    mayFail: true,
    async run(rounds) {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'pinhole-drill-'))
      const order = join(folder.path, 'order')
      let round = 0
      const runRound = (scene: Scene) =>
        during(
          scene,
          () => writeFile(order, orders[round++ % orders.length]!),
          () => rm(order, { force: true }),
        )
      return await onOneServer(rounds * orders.length, runRound, {
        env: { FAILING_DISK: order },
        nodeArguments: ['--import', join(ROOT, 'test/support/processes/failing-disk.ts')],
      })
    },
  }
}

export const failing = failingDisk(
  'failing disk',
  'Every flush of an image, a folder or the ledger fails (EIO) for half a second under load.',
  ['sync 0 EIO', 'log 0 EIO'],
)

/** The ledger's log is already open, and SQLite's own calls can't be intercepted. */
export const full = failingDisk('full disk', 'No file can be opened for writing (ENOSPC) under load.', [
  'open 0 ENOSPC',
])

/** A real remount is impossible while the ledger is open, so the error codes are injected. */
export const readOnly = failingDisk(
  'read-only',
  'Every open for writing fails (EROFS) under load, as after a disk error.',
  ['open 0 EROFS'],
)

export const dead = failingDisk(
  'dead file system',
  'Every rename, flush and file creation fails (EIO) under load.',
  ['open 0 EIO', 'rename 0 EIO'],
)
