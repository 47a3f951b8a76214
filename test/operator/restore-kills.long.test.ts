/** A restore, and a repair from a backup, that are killed at every step. */
import assert from 'node:assert/strict'
import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { assertServed, backedUp, operate, rot } from '../support/backed-up.ts'
import { ROOT, run } from '../support/processes/process.ts'
import { serverEnv, startServer } from '../support/processes/server.ts'

const DIE_AT = pathToFileURL(join(ROOT, 'test/support/processes/die-at.ts')).href

describe('kill -9 at every step', () => {
  const KILLS = 50

  /** Runs the command again and again, each time killed one step later, and at last to its end. How often it was killed. */
  async function killed(dataDir: string, words: string[], between: () => Promise<void>): Promise<number> {
    let kills = 0
    for (let step = 0; kills < KILLS; step += 1 + Math.floor(step / 20)) {
      const ran = await run(
        ['--import', DIE_AT, 'src/node/operator.ts', ...words],
        serverEnv({ DIE_AT: `${step}` }, dataDir),
      )
      if (ran.signal !== 'SIGKILL') {
        assert.equal(ran.code, 0, ran.stdout + ran.stderr)
        return kills
      }
      kills++
      await between()
    }
    return kills
  }

  it('of a restore: it ends when it is begun again, and no server starts before', async (t) => {
    const { folder, dataDir, backup, server, images } = await backedUp(t, 6)
    await server.end()
    let kills = 0
    for (let round = 0; kills < KILLS; round++) {
      // A machine with nothing, and one whose ledger is lost and whose images rotted.
      const target = join(folder, `target${round}`)
      if (round % 2) {
        await cp(dataDir, target, { recursive: true })
        for (const name of await readdir(target)) if (name.startsWith('ledger')) await rm(join(target, name))
        await rot(target, images[0]!, 'body')
        await rot(target, images[1]!, 'record')
      }
      let starts = 0
      kills += await killed(target, ['restore', backup], async () => {
        if (starts++ % 12 > 0) return
        // Before the restore began in earnest, or not at all.
        const early = await startServer({}, { dataDir: target }).catch((error) => {
          assert.match(error.message, /do it again: npm run operator -- restore/)
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

  it('of a repair from a backup: the server goes on, and the image is the one or the other', async (t) => {
    const { dataDir, backup, server, images } = await backedUp(t, 6)
    let kills = 0
    while (kills < KILLS) {
      await rot(dataDir, images[0]!, 'body')
      await rot(dataDir, images[1]!, 'record')
      await rot(dataDir, images[2]!, 'body')
      kills += await killed(dataDir, ['verify', '--repair', '--from', backup], () =>
        assertServed(server, images.slice(3)),
      )
      const ran = await server.operator(['verify', '--repair', '--from', backup])
      assert.equal(ran.code, 0, ran.stdout + ran.stderr)
      await assertServed(server, images)
    }
    t.diagnostic(`killed ${kills} times`)
  })
})
