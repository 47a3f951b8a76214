/** A server with images and a backup, and operator commands on data folders. */
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { nameOf } from '../../src/node/backup/manifest.ts'
import { folderOf } from './folder.ts'
import { gif } from './images/tiny-images.ts'
import { type Env, type Ran, run } from './processes/process.ts'
import { type RunningServer, serverEnv, serverFor } from './processes/server.ts'
import { flipBit } from './store-folder.ts'
import { until } from './until.ts'
import { fetchRaw, type Stored, store } from './upload.ts'

export const operate = (dataDir: string, argv: string[], env: Env = {}): Promise<Ran> =>
  run(['src/node/operator.ts', ...argv], serverEnv(env, dataDir))

/** Flips one bit of the image's record or bytes. */
export async function rot(folder: string, { id }: Stored, part: 'record' | 'body'): Promise<void> {
  const path = join(folder, 'images/objects', id)
  const { size } = await stat(path)
  await flipBit(path, part === 'record' ? size - 12 : 100)
}

/** Starts a server, stores images and makes a backup. */
export async function backedUp(t: TestContext, count: number, env: Env = {}) {
  const folder = await folderOf(t)
  const [dataDir, backup] = [join(folder, 'data'), join(folder, 'backup')]
  const server = await serverFor(t, env, { dataDir })
  const images: Stored[] = []
  for (let index = 0; index < count; index++) {
    images.push(await store(server.url, gif({ size: index % 3 ? 700 : 400_000 })))
  }
  const ran = await server.operator(['backup', backup])
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  return { folder, dataDir, backup, server, images }
}

/** Backups are named by their time. */
export async function untilNextName(): Promise<void> {
  const before = nameOf(new Date())
  await until('the next backup has another name', () => nameOf(new Date()) > before)
}

export async function assertServed(server: RunningServer, images: Stored[]): Promise<void> {
  for (const { id, bytes } of images) {
    const answer = await fetchRaw(server.url, id)
    assert.equal(answer.status, 200, `${id}: ${answer.text.slice(0, 200)}`)
    assert.ok(answer.body.equals(bytes), id)
  }
}
