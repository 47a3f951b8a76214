/** Drill: the admin server under everything a public instance faces at the same time: bots, report floods, kills, cache fills. */
import { setTimeout as sleep } from 'node:timers/promises'
import { forEachConcurrent } from '../../src/async.ts'
import { REPORT_BUDGETS } from '../../src/service/moderation/reports.ts'
import { atAdmin } from '../support/at-admin.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { CACHES, freePort } from '../support/processes/caches.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { startSlowOrigin } from '../support/processes/slow-origin.ts'
import { postReport } from '../support/report.ts'
import { until } from '../support/until.ts'
import { post } from '../support/upload.ts'
import { cacheSkipReason, type Drill, type Tally } from './drill.ts'
import {
  checkAuditLog,
  checkCaches,
  checkStoredImages,
  LIMITS,
  type Scene,
  statusOf,
} from './moderation-checks.ts'

const TOKEN = 'a-token-of-programs-0123456789'
/** Upper bound of a cache fill, even on a slow machine. A purge can't reach longer ones. */
const FILL_SECONDS = 8
const [NETWORKS, HOSTS] = [25, 20]
const TIMEOUT_MS = 120_000

const ACTIONS = ['hold', 'remove', 'release', 'decide'] as const
type Action = (typeof ACTIONS)[number]

export function moderation(name: 'varnish' | 'nginx'): Drill {
  return {
    name: `moderation, ${name}`,
    story:
      'Bots from 500 addresses, a flood of reports, and holds and removals during cache fills, each with a kill in the middle.',
    mayFail: true,
    skip: () => cacheSkipReason(name),
    run: (rounds) => run(name, rounds),
  }
}

async function run(name: 'varnish' | 'nginx', rounds: number): Promise<Tally> {
  const port = await freePort()
  const server = await startServer({
    CDN_URL: `${name}://127.0.0.1:${port}?fill=${FILL_SECONDS}`,
    UPLOADS_PER_DAY: `${LIMITS.address}`,
    NETWORK_UPLOADS: `${LIMITS.network}`,
    DAILY_UPLOADS: `${LIMITS.instance}`,
    OPERATOR_TOKEN: TOKEN,
    WORKERS: '2',
    LOG_LEVEL: 'error',
  })
  const origin = await startSlowOrigin(() => server.port)
  const cache = await CACHES[name].start(port, origin.port)
  const tally: Tally = { acknowledged: 0, lost: 0, risen: 0, errors: 0, faults: [] }
  const scene: Scene = { server, origin, cache, images: [], actions: [], tally }
  try {
    await withKills(scene, rounds, () => sendBots(scene))
    await withKills(scene, rounds, () => floodReports(scene, rounds === 1 ? 1500 : 10_000))
    for (let round = 0; round < 6 * rounds; round++) await actDuringFill(scene, round)
    await untilIdle(scene)
    await checkCaches(scene)
    await checkAuditLog(scene)
    await server.end()
    await checkStoredImages(scene)
    return tally
  } finally {
    await cache.stop()
    await origin.stop()
    await server.stop()
  }
}

/** Kills the server at random moments while `work` runs. */
async function withKills({ server }: Scene, kills: number, work: () => Promise<void>): Promise<void> {
  let isDone = false
  const working = work().finally(() => {
    isDone = true
  })
  for (let count = 0; count < kills && !isDone; count++) {
    await sleep(200 + Math.random() * 800)
    if (isDone) break
    await server.kill()
    await server.restart()
  }
  await working
}

/**
 * Calls `work` concurrently with the numbers below `count`. Retries when the server is unreachable, as bots do. Returns how many
 * were answered before the timeout.
 */
async function each(scene: Scene, count: number, work: (index: number) => Promise<void>): Promise<number> {
  let answered = 0
  const deadline = Date.now() + TIMEOUT_MS
  await forEachConcurrent([...Array(count).keys()], 12, async (index) => {
    while (Date.now() < deadline) {
      try {
        await work(index)
        answered++
        return
      } catch {
        scene.tally.errors++
        await sleep(100)
      }
    }
  })
  return answered
}

/** Each of 500 addresses sends one upload more than its limit. */
async function sendBots(scene: Scene): Promise<void> {
  const { server, images, tally } = scene
  await each(scene, NETWORKS * HOSTS * (LIMITS.address + 1), async (index) => {
    const address = `198.51.${index % NETWORKS}.${1 + (Math.floor(index / NETWORKS) % HOSTS)}`
    const answer = await post(server.url, gif({ size: 300 + index }), address)
    if (answer.status === 201) {
      images.push({ id: answer.json().id, address, state: 'visible' })
      tally.acknowledged++
    } else if (answer.status !== 429 && answer.status !== 503) {
      tally.faults.push(`an upload failed with ${answer.status}`)
    }
  })
  for (const [scope, limit, keyOf] of [
    ['an address', LIMITS.address, (address: string) => address],
    ['a network', LIMITS.network, (address: string) => address.replace(/\.\d+$/, '')],
    ['the instance', LIMITS.instance, () => ''],
  ] as const) {
    for (const [key, stored] of Map.groupBy(images, ({ address }) => keyOf(address))) {
      if (stored.length > limit)
        tally.faults.push(`${scope} ${key} stored ${stored.length}, the limit is ${limit}`)
    }
  }
  // On a slow machine the timeout may come before the limit is reached, but without images there is nothing to drill.
  if (images.length < 20) tally.faults.push(`only ${images.length} images were stored`)
}

async function floodReports(scene: Scene, count: number): Promise<void> {
  const { server, images, tally } = scene
  const filed = new Map<string, number>()
  const answered = await each(scene, count, async (index) => {
    const address = `203.0.${index % 100}.${1 + (Math.floor(index / 100) % 250)}`
    const image = index % 3 === 0 ? `${index}`.padStart(11, '0') : images[index % images.length]!.id
    const answer = await postReport(server.url, image, { category: 'other' }, address)
    if (answer.status === 202) filed.set(address, (filed.get(address) ?? 0) + 1)
    else if (answer.status !== 404 && answer.status !== 429)
      tally.faults.push(`a report failed with ${answer.status}`)
  })
  process.stderr.write(`  ${answered} of ${count} reports were answered\n`)
  // On a slow machine the timeout may come first, but there must be enough reports to be a flood.
  if (answered < 500) tally.faults.push(`only ${answered} reports were answered`)
  tally.acknowledged += [...filed.values()].reduce((sum, reports) => sum + reports, 0)
  for (const [address, reports] of filed) {
    if (reports > REPORT_BUDGETS.ofAddress) tally.faults.push(`${address} filed ${reports} reports`)
  }
}

/** One action on an image during a cache fill, mostly with a kill in the middle. */
async function actDuringFill(scene: Scene, round: number): Promise<void> {
  const { server, origin, images, actions, tally } = scene
  const act: Action = ACTIONS[round % ACTIONS.length]!
  const image = images.find(({ state }) => state === (act === 'release' ? 'held' : 'visible'))
  if (image === undefined) return
  const path = `/raw/${image.id}`
  const fill = act === 'release' ? null : await startFill(scene, path)
  const sending = send(server, act, image.id)
  if (round % 3 !== 2) {
    await sleep(Math.random() * 60)
    const killed = server.kill()
    origin.release()
    await killed
    await server.restart()
  }
  const isDone = await sending
  origin.release()
  await fill?.ended
  if (isDone) {
    tally.acknowledged++
    actions.push({ act: act === 'decide' ? 'hold' : act, subject: image.id })
    if (act === 'decide') actions.push({ act: 'remove', subject: image.id })
    image.state = act === 'release' ? 'visible' : act === 'hold' ? 'held' : 'removed'
  } else {
    tally.errors++
    image.state = null
  }
}

/** Starts a cache fill whose response the origin holds back. Retries, since a cache avoids an origin that looks unhealthy. */
async function startFill({ origin, cache }: Scene, path: string): Promise<{ ended: Promise<unknown> }> {
  origin.hold(path)
  let fill: Promise<unknown> = Promise.resolve()
  let isIdle = true
  await until(
    'the cache fills',
    async () => {
      if (isIdle) {
        isIdle = false
        fill = request(cache.url, 'GET', path)
          .catch(() => null)
          .finally(() => {
            isIdle = true
          })
        await sleep(50)
      }
      return origin.held() > 0
    },
    TIMEOUT_MS,
  )
  return { ended: fill }
}

/** Sends an action to the admin server with an API token. `decide`: a removal that can be undone. */
async function send(server: RunningServer, act: Action, id: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const form = { image: id, act: act === 'decide' ? 'remove' : act, reason: 'a drill', rule: 'other' }
  const path = act === 'decide' ? `/cases/${id}` : '/images'
  return atAdmin(server.dataDir, 'POST', path, { headers, form }).then(
    ({ status }) => status === 303,
    () => false,
  )
}

/** Waits until no removal and no cache purge is pending. */
async function untilIdle({ server, images }: Scene): Promise<void> {
  for (const image of images.filter(({ state }) => state === 'removed')) {
    await until(
      'the image is removed',
      async () => (await statusOf(server.url, image.id)) === 410,
      TIMEOUT_MS,
    )
  }
  await until(
    'no purge is pending',
    async () => (await request(server.url, 'GET', '/readyz')).json().purgesOwed === 0,
    TIMEOUT_MS,
  )
}
