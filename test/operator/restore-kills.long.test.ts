/** Kills a restore, and a repair from a backup, at every step. */
import assert from 'node:assert/strict'
import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { assertServed, backedUp, operate, rot } from '../support/backed-up.ts'
import { ROOT, run } from '../support/processes/process.ts'
import { serverEnv, startServer } from '../support/processes/server.ts'

const DIE_AT = pathToFileURL(join(ROOT, 'test/support/processes/die-at.ts')).href

const KILLS = 50

/** Reruns the command, killing it one step later each time, until it completes. Returns the number of kills. */
async function killAtEachStep(
  dataDir: string,
  args: string[],
  afterKill: () => Promise<void>,
): Promise<number> {
  let kills = 0
  for (let step = 0; kills < KILLS; step += 1 + Math.floor(step / 20)) {
    const ran = await run(
      ['--import', DIE_AT, 'src/node/operator.ts', ...args],
      serverEnv({ DIE_AT: `${step}` }, dataDir),
    )
    if (ran.signal !== 'SIGKILL') {
      assert.equal(ran.code, 0, ran.stdout + ran.stderr)
      return kills
    }
    kills++
    await afterKill()
  }
  return kills
}

it('a restore killed at every step completes when rerun, and no server starts before that', async (t) => {
  const { folder, dataDir, backup, server, images } = await backedUp(t, 6)
  await server.end()
  let kills = 0
  for (let round = 0; kills < KILLS; round++) {
    // Alternately an empty machine, and one that lost its ledger and has corrupted images.
    const target = join(folder, `target${round}`)
    if (round % 2) {
      await cp(dataDir, target, { recursive: true })
      for (const name of await readdir(target)) if (name.startsWith('ledger')) await rm(join(target, name))
      await rot(target, images[0]!, 'body')
      await rot(target, images[1]!, 'record')
    }
    let starts = 0
    kills += await killAtEachStep(target, ['restore', backup], async () => {
      if (starts++ % 12 > 0) return
      // The server starts only if the restore had not written its mark yet.
      const early = await startServer({}, { dataDir: target }).catch((error) => {
        assert.match(error.message, /run it again: npm run operator -- restore/)
      })
      await early?.stop()
    })
    const ran = await operate(target, ['restore', backup])
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    assert.equal((await operate(target, ['confirm-restore'])).code, 0)
    const other = await startServer({}, { dataDir: target })
    await assertServed(other, images).finally(() => other.stop())
    await rm(target, { recursive: true })
  }
  t.diagnostic(`killed ${kills} times`)
})

it('a repair from a backup, killed at every step, keeps the server running, and each image either damaged or intact', async (t) => {
  const { dataDir, backup, server, images } = await backedUp(t, 6)
  let kills = 0
  while (kills < KILLS) {
    await rot(dataDir, images[0]!, 'body')
    await rot(dataDir, images[1]!, 'record')
    await rot(dataDir, images[2]!, 'body')
    kills += await killAtEachStep(dataDir, ['verify', '--repair', '--from', backup], () =>
      assertServed(server, images.slice(3)),
    )
    const ran = await server.operator(['verify', '--repair', '--from', backup])
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    await assertServed(server, images)
  }
  t.diagnostic(`killed ${kills} times`)
})
