/** Drill: a backup under load, data loss, and a restore. */
import { mkdtempDisposable, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../support/processes/server.ts'
import type { Drill, Tally } from './drill.ts'
import { startLoad } from './load.ts'

export const restoreDrill: Drill = {
  name: 'restore',
  story:
    'Two backups under load, then the data is destroyed. The restored backup has everything acknowledged before it began.',
  mayFail: false,
  run: (rounds) => restoreRounds(rounds, false),
}

export const restoreBesideLedger: Drill = {
  name: 'restore of images alone',
  story: 'The images are destroyed, but not the ledger. Images deleted after the backup stay deleted.',
  mayFail: false,
  run: (rounds) => restoreRounds(rounds, true),
}

async function restoreRounds(rounds: number, keepLedger: boolean): Promise<Tally> {
  const all: Tally = { acknowledged: 0, lost: 0, risen: 0, errors: 0, faults: [] }
  for (let round = 0; round < rounds; round++) {
    const tally = await restoreOnce(keepLedger)
    all.acknowledged += tally.acknowledged
    all.lost += tally.lost
    all.risen += tally.risen
    all.errors += tally.errors
    all.faults.push(...tally.faults)
  }
  return all
}

async function restoreOnce(keepLedger: boolean): Promise<Tally> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'pinhole-drill-'))
  const backup = join(folder.path, 'backup')
  const server = await startServer({ UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn' })
  const operate = async (argv: string[]) => {
    const ran = await server.operator(argv)
    if (ran.code !== 0) throw new Error(`${argv.join(' ')}: ${ran.stdout}${ran.stderr}`)
    return ran.stdout
  }
  const faults: string[] = []
  try {
    // Everything acknowledged before the backup must be in it. Another load makes the later changes.
    const before = startLoad(() => [server.url])
    await before.uploads(60)
    await operate(['backup', backup])
    await before.uploads(20)
    await before.stop()
    const during = startLoad(() => [server.url])
    await during.uploads(10)
    const second = await operate(['backup', backup, '--json'])
    if (JSON.parse(second).kept < 30) faults.push(`the second backup copied images again: ${second}`)
    await during.stop()
    const deletedLater = keepLedger ? await before.removeSome(server.url, 10) : 0
    await server.kill()
    await rm(keepLedger ? join(server.dataDir, 'images') : server.dataDir, { recursive: true })
    const restored = JSON.parse(await operate(['restore', backup, '--json']))
    if (keepLedger && restored.gone < deletedLater) faults.push('the restore did not apply the deletions')
    // Without off-site tombstones, deletions since the backup are unknown and must be confirmed.
    if (!keepLedger) await operate(['confirm-restore'])
    await server.restart()
    const tally = await before.check(server.url)
    return { ...tally, faults: [...tally.faults, ...faults, ...before.errors()] }
  } finally {
    await server.stop()
  }
}
