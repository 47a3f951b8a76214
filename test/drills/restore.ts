/** A backup under load, the machine destroyed, and the backup brought back. */
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../support/processes/process.ts'
import { serverEnv, startServer } from '../support/processes/server.ts'
import type { Drill, Tally } from './drill.ts'
import { startLoad } from './load.ts'

export const restoreDrill: Drill = {
  name: 'restore',
  story:
    'A backup is made under load, twice; the data is destroyed; the backup is restored and held to what was acknowledged before it began.',
  mayFail: false,
  run: (rounds) => restoreRounds(rounds, false),
}

export const restoreBesideLedger: Drill = {
  name: 'restore of images alone',
  story: 'The images are destroyed and the ledger is not: what was deleted after the backup stays deleted.',
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
  const folder = await mkdtemp(join(tmpdir(), 'pinhole-drill-'))
  const dataDir = join(folder, 'data')
  const backup = join(folder, 'backup')
  const env = { UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn' }
  const operate = async (words: string[], isJson = true) => {
    const ran = await run(['src/node/operator.ts', ...words], serverEnv(env, dataDir))
    if (ran.code !== 0) throw new Error(`${words.join(' ')}: ${ran.stdout}${ran.stderr}`)
    return (isJson ? JSON.parse(ran.stdout) : {}) as Record<string, unknown>
  }
  let server = await startServer(env, { dataDir })
  const faults: string[] = []
  try {
    // What is acknowledged before the backup begins must be in it; deletions after it are another load's.
    const before = startLoad(() => [server.url])
    await before.uploads(60)
    await operate(['backup', backup, '--json'])
    await before.uploads(20)
    await before.stop()
    const during = startLoad(() => [server.url])
    await during.uploads(10)
    const second = await operate(['backup', backup, '--json'])
    if ((second.kept as number) < 30) faults.push(`the second backup copied again: ${JSON.stringify(second)}`)
    await during.stop()
    const deletedLater = keepLedger ? await before.removeSome(server.url, 10) : 0
    await server.kill()
    if (keepLedger) await rename(join(dataDir, 'images'), join(folder, 'destroyed'))
    else await rm(dataDir, { recursive: true })
    const restored = await operate(['restore', backup, '--json'])
    if (keepLedger && (restored.gone as number) < deletedLater) faults.push('deletions were not carried out')
    // Without a second place nobody knows what was deleted since.
    if (!keepLedger) await operate(['confirm-restore'], false)
    server = await startServer(env, { dataDir })
    const tally = await before.check(server.url)
    return { ...tally, errors: tally.errors, faults: [...tally.faults, ...faults, ...before.errors()] }
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
