/** What happens to disks: full, failing, read-only. */
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

/** The server must say that it is not ready, live on, and be ready again when it is over. */
async function during({ server, faults }: Scene, begin: () => unknown, end: () => unknown): Promise<void> {
  await begin()
  try {
    await sleep(500)
    if ((await statusOf(server.url, '/readyz')) !== 503) faults.push('it says that it is ready')
    if ((await statusOf(server.url, '/healthz')) !== 200) faults.push('it is not alive')
  } finally {
    await end()
  }
  await until('it is ready again', async () => (await statusOf(server.url, '/readyz')) === 200)
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
      const act = (scene: Scene) =>
        during(
          scene,
          () => writeFile(order, orders[round++ % orders.length]!),
          () => rm(order, { force: true }),
        )
      return await onOneServer(rounds * orders.length, act, {
        env: { FAILING_DISK: order },
        nodeArguments: ['--import', join(ROOT, 'test/support/processes/failing-disk.ts')],
      })
    },
  }
}

export const failing = failingDisk(
  'failing disk',
  'Each flush of an image, of the folder, or of the ledger fails (EIO), for half a second under load.',
  ['sync 0 EIO', 'log 0 EIO'],
)

/** The ledger's log takes what is there: SQLite is not asked. */
export const full = failingDisk('full disk', 'Nothing more can be opened for writing (ENOSPC), under load.', [
  'open 0 ENOSPC',
])

/** A real remount is refused as long as the ledger is open: what files say then is injected. */
export const readOnly = failingDisk(
  'read-only',
  'Whatever is opened for writing is refused (EROFS), as after an error of the disk, under load.',
  ['open 0 EROFS'],
)

export const dead = failingDisk(
  'dead file system',
  'Every rename, flush and new file fails (EIO), under load.',
  ['open 0 EIO', 'rename 0 EIO'],
)
