/** Several workers on one port, and their supervisor. */
import assert from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { childrenOf, descriptors } from '../support/attack/process-costs.ts'
import { filesIn } from '../support/files.ts'
import { folderOf } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { NODE, succeeds } from '../support/processes/process.ts'
import { serverFor, startServer } from '../support/processes/server.ts'
import { converse } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { begin, burst, fetchRaw, remove, store } from '../support/upload.ts'

/** A request that takes longer is considered lost. */
const TIMEOUT_MS = 20_000

it('a supervisor does not restart workers while it shuts down', async (t) => {
  const [server, other] = [await serverFor(t, { WORKERS: '2' }), await serverFor(t, { WORKERS: '2' })]
  const workers = childrenOf(server.pid)
  if (workers === null) return t.skip('killing a single worker needs Linux')
  const halves = await Promise.all(
    Array.from({ length: 8 }, (_, i) => begin(server.url, `198.51.100.${i + 10}`)),
  )
  process.kill(workers[0]!, 'SIGKILL')
  await until('its death is noticed', () => server.stderr().includes('a worker died'))
  const ended = server.end('SIGTERM')
  // The other worker has uploads to finish. Meanwhile a server that goes on restarts one.
  const before = childrenOf(other.pid)!
  process.kill(before[0]!, 'SIGKILL')
  await until('the other server has a successor', () =>
    childrenOf(other.pid)!.some((pid) => !before.includes(pid)),
  )
  assert.deepEqual(childrenOf(server.pid), [workers[1]])
  for (const half of halves) half.close()
  assert.equal((await ended).code, 0)
})

it('two workers share one quota, see deletions and removals immediately, and survive each other’s death', async (t) => {
  const server = await serverFor(t, { WORKERS: '2' })
  const workers = childrenOf(server.pid)
  if (process.platform === 'linux') assert.equal(workers?.length, 2)
  const { answers, statuses } = await burst([server.url], 300, { from: '198.51.100.1', aborted: 10 })
  const stored = answers.filter(({ status }) => status === 201).map((answer) => answer.json())
  assert.deepEqual(statuses, { 201: 100, 429: 200 })

  for (const { id, key } of stored.slice(0, 10)) {
    await everywhere(server.url, id, 200)
    assert.equal((await remove(server.url, key)).status, 200)
    await everywhere(server.url, id, 404)
  }
  const [{ id }] = stored.slice(10)
  await everywhere(server.url, id, 200)
  const ran = await server.operator(['remove', id, '--reason', 'x'])
  assert.equal(ran.code, 0, ran.stderr)
  await everywhere(server.url, id, 410)

  // Child processes can only be told apart on Linux.
  if (workers === null) return t.skip('killing a single worker needs Linux')
  const drafts = async () => (await filesIn(server.dataDir)).others.length
  const halves = await Promise.all(
    Array.from({ length: 6 }, (_, i) => begin(server.url, `198.51.100.${i + 80}`, gif({ size: 2_000_000 }))),
  )
  await until('all are drafts on disk', async () => (await drafts()) === halves.length)
  process.kill(workers[0]!, 'SIGKILL')
  await until('the dead worker has a successor', async () => {
    const now = childrenOf(server.pid)
    return now?.length === 2 && !now.includes(workers[0]!)
  })
  for (const half of halves) half.close()
  await until('no draft is left, not even one of the dead worker', async () => (await drafts()) === 0)
  for (const { id } of stored.slice(11, 20)) await everywhere(server.url, id, 200)
  await store(server.url, gif(), '198.51.100.77')

  process.kill(workers[1]!, 'SIGKILL')
  await until('a successor answers', () => succeeds(store(server.url, gif(), '198.51.100.78')))
  await server.end()
  assert.equal(server.stdout().match(/Pinhole is at/g)?.length, 1, 'restarts are not announced')
})

it('a supervisor that cannot start a worker tries again, with the settings of its own start', async (t) => {
  const folder = await folderOf(t)
  const [NO_WORKER, envFile] = [join(folder, 'no-worker'), join(folder, 'env')]
  await writeFile(envFile, 'WORKERS=2\n')
  const NODE_OPTIONS = `--import ${new URL('../support/processes/no-worker.ts', import.meta.url).href}`
  const program = { file: NODE, words: ['bin/serve.mjs', '--env-file', envFile] }
  const server = await serverFor(t, { NO_WORKER, NODE_OPTIONS }, { program })
  const workers = childrenOf(server.pid)
  if (workers === null) return t.skip('killing a single worker needs Linux')
  await writeFile(envFile, 'no assignment\n')
  await writeFile(NO_WORKER, '')
  for (const worker of workers) process.kill(worker, 'SIGKILL')
  await until('no worker can be started', () => server.stderr().includes('a worker could not be started'))
  await rm(NO_WORKER)
  await until('a successor answers', () => succeeds(store(server.url)))
  assert.equal((await server.end()).code, 0)
})

describe('a worker that is killed under load', () => {
  it('leaves no client waiting, and no descriptor in its supervisor', async (t) => {
    const server = await serverFor(t, { WORKERS: '2' })
    const before = childrenOf(server.pid)
    if (before === null) return t.skip('killing a single worker needs Linux')
    const { id } = await store(server.url, gif({ size: 3000 }))
    const held = descriptors(server.pid)
    let isOver = false
    t.after(() => {
      isOver = true
    })
    const outcomes = { answered: 0, lost: 0, waited: 0 }
    const clients = Array.from({ length: 64 }, async () => {
      while (!isOver) {
        await request(server.url, 'GET', `/raw/${id}`, { timeoutMs: TIMEOUT_MS }).then(
          () => outcomes.answered++,
          // Requests in flight at the dead worker fail immediately with a code. Without a code: no answer in time.
          (error) => (error.code === undefined ? outcomes.waited++ : outcomes.lost++),
        )
      }
    })
    for (let round = 0; round < 4; round++) {
      const [victim] = childrenOf(server.pid)!
      const answered = outcomes.answered
      await until('clients are served', () => outcomes.answered > answered + 200)
      process.kill(victim!, 'SIGKILL')
      await until('the dead worker has a successor', async () => {
        const now = childrenOf(server.pid)
        return now?.length === 2 && !now.includes(victim!)
      })
    }
    isOver = true
    await Promise.all(clients)
    assert.equal(outcomes.waited, 0, JSON.stringify(outcomes))
    await until('no descriptor is left', () => descriptors(server.pid) <= held)
    t.diagnostic(JSON.stringify(outcomes))
  })

  it('shares connections with the other worker', async (t) => {
    const server = await serverFor(t, { WORKERS: '2' })
    const workers = childrenOf(server.pid)
    if (workers === null) return t.skip('counting a process’s descriptors needs Linux')
    const before = workers.map(sockets)
    const talks = await Promise.all(Array.from({ length: 100 }, () => converse(server.url)))
    t.after(() => {
      for (const talk of talks) talk.close()
    })
    const taken = () => workers.map((pid, index) => sockets(pid) - before[index]!)
    await until('all are accepted', () => taken()[0]! + taken()[1]! >= talks.length)
    assert.ok(Math.min(...taken()) >= 20, `${taken()}`)
  })

  it('cannot start on a port that another server listens on', async (t) => {
    const first = await serverFor(t, { WORKERS: '2' })
    await assert.rejects(startServer({ WORKERS: '2', PORT: `${first.port}` }), /cannot listen on/)
  })
})

/** Number of sockets that a process has open. Other descriptors come and go. */
function sockets(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:')
  } catch {
    return false
  }
}

/** Sends many concurrent requests, so that each process gets some. */
async function everywhere(url: string, id: string, status: number): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 16 }, () => fetchRaw(url, id)))
  for (const answer of answers) assert.equal(answer.status, status)
}
