/** Kills a restore, and a repair from a backup, at every step. */
import assert from 'node:assert/strict'
import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { nodeHashes } from '../../src/node/hashes.ts'
import { RESTORING } from '../../src/node/open/data-folder.ts'
import { createTombstoneFiles } from '../../src/service/recovery/tombstone-files.ts'
import { openFolderFiles } from '../../src/stores/filesystem/files.ts'
import { assertServed, backedUp, operate, rot, untilNextName } from '../support/backed-up.ts'
import { folderOf } from '../support/folder.ts'
import { type Env, ROOT, run } from '../support/processes/process.ts'
import { serverEnv, startServer } from '../support/processes/server.ts'
import { fetchRaw, remove, type Stored } from '../support/upload.ts'

const DIE_AT = pathToFileURL(join(ROOT, 'test/support/processes/die-at.ts')).href

const KILLS = 50

/** Reruns the command, killing it one step later each time, until it completes. `stdout`: if it did. */
async function killAtEachStep(
  dataDir: string,
  args: string[],
  afterKill: () => Promise<void>,
  env: Env = {},
): Promise<{ kills: number; stdout?: string }> {
  let kills = 0
  for (let step = 0; kills < KILLS; step += 1 + Math.floor(step / 20)) {
    const ran = await run(
      ['--import', DIE_AT, 'src/node/operator.ts', ...args],
      serverEnv({ ...env, DIE_AT: `${step}` }, dataDir),
    )
    if (ran.signal !== 'SIGKILL') {
      assert.equal(ran.code, 0, ran.stdout + ran.stderr)
      return { kills, stdout: ran.stdout }
    }
    kills++
    await afterKill()
  }
  return { kills }
}

it('a restore killed at every step completes when rerun, and no server starts before that', async (t) => {
  const second = await folderOf(t)
  const env = { TOMBSTONES_URL: `file:${second}` }
  const { folder, dataDir, backup, server, images } = await backedUp(t, 6, env)
  // A ledger without history would not be taken for the machine's own when the restore is run again.
  assert.equal((await server.operator(['block', 'a'.repeat(64), '--reason', 'x'])).code, 0)
  await untilNextName()
  assert.equal((await server.operator(['backup', backup])).code, 0)
  const [deleted, ...kept] = images as [Stored, ...Stored[]]
  assert.equal((await remove(server.url, deleted.key)).status, 200)
  await server.end()
  assert.ok((await createTombstoneFiles(openFolderFiles(second), nodeHashes).read()).tombstones.length > 0)
  let kills = 0
  for (let round = 0; kills < KILLS; round++) {
    // Alternately an empty machine, and one that lost its ledger and has corrupted images.
    const target = join(folder, `target${round}`)
    if (round % 2) {
      await cp(dataDir, target, { recursive: true })
      for (const name of await readdir(target)) if (name.startsWith('ledger')) await rm(join(target, name))
      await rot(target, kept[0]!, 'body')
      await rot(target, kept[1]!, 'record')
    }
    let starts = 0
    const killed = await killAtEachStep(
      target,
      ['restore', backup],
      async () => {
        // A server that starts before would make a ledger of its own.
        if (!(await readdir(target)).includes(RESTORING) || starts++ % 12 > 0) return
        await assert.rejects(
          startServer(env, { dataDir: target }),
          /run it again: npm run operator -- restore/,
        )
      },
      env,
    )
    kills += killed.kills
    const ran = await operate(target, ['restore', backup], env)
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    assert.match(killed.stdout ?? ran.stdout, /restored the ledger/)
    assert.equal((await operate(target, ['confirm-restore'], env)).code, 0)
    const other = await startServer(env, { dataDir: target })
    await assertServed(other, kept)
    assert.equal((await fetchRaw(other.url, deleted.id)).status, 404)
    await other.stop()
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
    const args = ['verify', '--repair', '--from', backup]
    kills += (await killAtEachStep(dataDir, args, () => assertServed(server, images.slice(3)))).kills
    const ran = await server.operator(['verify', '--repair', '--from', backup])
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    await assertServed(server, images)
  }
  t.diagnostic(`killed ${kills} times`)
})
