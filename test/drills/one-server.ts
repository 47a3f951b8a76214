/** Runs a drill against one server under load. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { filesIn } from '../support/files.ts'
import { request } from '../support/http.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { sha256Of } from '../support/sha256.ts'
import type { Tally } from './drill.ts'
import { type Acknowledged, startLoad } from './load.ts'

export async function onOneServer(
  rounds: number,
  runRound: (server: RunningServer) => Promise<void>,
): Promise<Tally> {
  const server = await startServer({ UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn' })
  const load = startLoad(() => [server.url])
  try {
    for (let round = 0; round < rounds; round++) {
      await load.uploads(30)
      await runRound(server)
    }
    await load.uploads(10)
    await load.stop()
    const tally = await load.check(server.url)
    // Again after a restart, so that cached images are read from disk too.
    await server.restart()
    const fromDisk = await load.check(server.url)
    const onDisk = await faultsOnDisk(server, load.snapshot(), tally.errors)
    return {
      ...tally,
      lost: Math.max(tally.lost, fromDisk.lost),
      risen: Math.max(tally.risen, fromDisk.risen),
      faults: [...tally.faults, ...fromDisk.faults, ...onDisk],
    }
  } finally {
    await load.stop()
    await server.stop()
  }
}

/** Compares the data folder with what was acknowledged. `failed`: number of requests that failed. */
async function faultsOnDisk(server: RunningServer, known: Acknowledged, failed: number): Promise<string[]> {
  const { images, others } = await filesIn(server.dataDir)
  const faults = others.map((path) => `${path} was left behind`)
  let unknown = 0
  for (const id of images.keys()) {
    const state = known.get(id)
    if (state === 'deleted') faults.push(`the bytes of ${id} are still on the disk`)
    if (state !== undefined) continue
    // Its upload was never answered: it is stored whole, or not at all.
    unknown++
    for (const path of [`/raw/${id}`, `/preview/${id}`]) {
      const { status, headers, body } = await request(server.url, 'GET', path)
      const isWhole = status === 200 && headers.get('ETag') === `"${sha256Of(body)}"`
      if (!isWhole && status !== 307)
        faults.push(`${path} was never acknowledged, and is not whole: ${status}`)
    }
  }
  if (unknown > failed) faults.push(`${unknown} images are unknown, but only ${failed} requests failed`)
  const used = await uploadsCounted(server.dataDir)
  if (used < known.size || used > known.size + failed) {
    faults.push(`${used} uploads are counted for ${known.size} that were acknowledged and ${failed} failures`)
  }
  return faults
}

/** Uploads that count towards the quotas of all addresses. */
async function uploadsCounted(dataDir: string): Promise<number> {
  const folder = join(dataDir, 'private')
  const names = (await readdir(folder)).filter((name) => /^usage-[-\d]+\.sqlite$/.test(name))
  const counts = names.map((name) => {
    const usage = new DatabaseSync(join(folder, name), { readOnly: true })
    try {
      return Number(usage.prepare('select sum(used) as uploads from places').get()!.uploads)
    } finally {
      usage.close()
    }
  })
  return counts.reduce((sum, count) => sum + count, 0)
}
