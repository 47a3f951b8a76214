/** The admin server under all that a public instance meets at once: bots, a flood of reports, kills, caches that fill. */
import { setTimeout as sleep } from 'node:timers/promises'
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
import { type Drill, type Tally, whyNoCache } from './drill.ts'
import { CAPS, checkActs, checkCaches, checkPlaces, type Scene, statusOf } from './moderation-checks.ts'

const TOKEN = 'a-token-of-programs-0123456789'
/** Fills are shorter, also on a slow machine: longer ones no purge reaches. */
const FILL_SECONDS = 8
const [NETWORKS, HOSTS] = [25, 20]
const PATIENCE_MS = 120_000

const ACTS = ['hold', 'remove', 'release', 'decide'] as const
type Act = (typeof ACTS)[number]

export function moderation(name: 'varnish' | 'nginx'): Drill {
  return {
    name: `moderation, ${name}`,
    story:
      'bots of 500 addresses, a flood of reports, holds and removals with fills under way, each with a kill in the middle.',
    mayFail: true,
    skip: () => whyNoCache(name),
    run: (rounds) => run(name, rounds),
  }
}

async function run(name: 'varnish' | 'nginx', rounds: number): Promise<Tally> {
  const port = await freePort()
  const server = await startServer({
    CDN_URL: `${name}://127.0.0.1:${port}?fill=${FILL_SECONDS}`,
    UPLOADS_PER_DAY: `${CAPS.address}`,
    NETWORK_UPLOADS: `${CAPS.network}`,
    DAILY_UPLOADS: `${CAPS.instance}`,
    OPERATOR_TOKEN: TOKEN,
    WORKERS: '2',
    LOG_LEVEL: 'error',
  })
  const origin = await startSlowOrigin(() => server.port)
  const cache = await CACHES[name].start(port, origin.port)
  const tally: Tally = { acknowledged: 0, lost: 0, risen: 0, errors: 0, faults: [] }
  const scene: Scene = { server, origin, cache, images: [], acts: [], tally }
  try {
    await withKills(scene, rounds, () => sendBots(scene))
    await withKills(scene, rounds, () => floodReports(scene, rounds === 1 ? 1500 : 10_000))
    for (let round = 0; round < 6 * rounds; round++) await actUnderFill(scene, round)
    await settle(scene)
    await checkCaches(scene)
    await checkActs(scene)
    await server.end()
    await checkPlaces(scene)
    return tally
  } finally {
    await cache.stop()
    await origin.stop()
    await server.stop()
  }
}

/** Kills the server at random moments while `work` goes on. */
async function withKills({ server }: Scene, kills: number, work: () => Promise<void>): Promise<void> {
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  for (let nth = 0; nth < kills && !isOver; nth++) {
    await sleep(200 + Math.random() * 800)
    if (isOver) break
    await server.kill()
    await server.restart()
  }
  await working
}

/**
 * `work` gets the numbers below `count`, several at a time. A request that finds no service is tried again, as bots do. How many were
 * answered before patience ended.
 */
async function each(scene: Scene, count: number, work: (nth: number) => Promise<void>): Promise<number> {
  let next = 0
  let answered = 0
  const deadline = Date.now() + PATIENCE_MS
  const client = async (): Promise<void> => {
    for (let nth = next++; nth < count; nth = next++) {
      for (let isDone = false; !isDone && Date.now() < deadline; ) {
        isDone = await work(nth).then(
          () => true,
          () => false,
        )
        if (isDone) {
          answered++
          continue
        }
        scene.tally.errors++
        await sleep(100)
      }
    }
  }
  await Promise.all(Array.from({ length: 12 }, client))
  return answered
}

/** Each of 500 addresses tries one more than it may. */
async function sendBots(scene: Scene): Promise<void> {
  const { server, images, tally } = scene
  await each(scene, NETWORKS * HOSTS * (CAPS.address + 1), async (nth) => {
    const address = `198.51.${nth % NETWORKS}.${1 + (Math.floor(nth / NETWORKS) % HOSTS)}`
    const answer = await post(server.url, gif({ size: 300 + nth }), address)
    if (answer.status === 201) {
      images.push({ id: answer.json().id, address, state: 'visible' })
      tally.acknowledged++
    } else if (answer.status !== 429 && answer.status !== 503) {
      tally.faults.push(`an upload answers ${answer.status}`)
    }
  })
  for (const [what, cap, keyOf] of [
    ['an address', CAPS.address, (address: string) => address],
    ['a network', CAPS.network, (address: string) => address.replace(/\.\d+$/, '')],
    ['the instance', CAPS.instance, () => ''],
  ] as const) {
    for (const [key, stored] of Map.groupBy(images, ({ address }) => keyOf(address))) {
      if (stored.length > cap) tally.faults.push(`${what} ${key} stored ${stored.length}, the cap is ${cap}`)
    }
  }
  // On a slow machine patience may end before the cap is reached; with none there is nothing to drill.
  if (images.length < 20) tally.faults.push(`only ${images.length} images were stored`)
}

async function floodReports(scene: Scene, count: number): Promise<void> {
  const { server, images, tally } = scene
  const filed = new Map<string, number>()
  const answered = await each(scene, count, async (nth) => {
    const address = `203.0.${nth % 100}.${1 + (Math.floor(nth / 100) % 250)}`
    const image = nth % 3 === 0 ? `${nth}`.padStart(11, '0') : images[nth % images.length]!.id
    const answer = await postReport(server.url, image, { category: 'other' }, address)
    if (answer.status === 202) filed.set(address, (filed.get(address) ?? 0) + 1)
    else if (answer.status !== 404 && answer.status !== 429)
      tally.faults.push(`a report answers ${answer.status}`)
  })
  process.stderr.write(`  ${answered} of ${count} reports were answered\n`)
  // On a slow machine patience may end first; a flood that drowned nothing is none.
  if (answered < 500) tally.faults.push(`only ${answered} reports were answered`)
  tally.acknowledged += [...filed.values()].reduce((sum, some) => sum + some, 0)
  for (const [address, some] of filed) {
    if (some > REPORT_BUDGETS.ofAddress) tally.faults.push(`${address} filed ${some} reports`)
  }
}

/** One act on one image while a cache fills it, and mostly a kill in the middle. */
async function actUnderFill(scene: Scene, round: number): Promise<void> {
  const { server, origin, images, acts, tally } = scene
  const act: Act = ACTS[round % ACTS.length]!
  const image = images.find(({ state }) => state === (act === 'release' ? 'held' : 'visible'))
  if (image === undefined) return
  const path = `/raw/${image.id}`
  const fill = act === 'release' ? null : await startFill(scene, path)
  const doing = send(server, act, image.id)
  if (round % 3 !== 2) {
    await sleep(Math.random() * 60)
    const killed = server.kill()
    origin.release()
    await killed
    await server.restart()
  }
  const isDone = await doing
  origin.release()
  await fill?.ended
  if (isDone) {
    tally.acknowledged++
    acts.push({ act: act === 'decide' ? 'hold' : act, subject: image.id })
    if (act === 'decide') acts.push({ act: 'remove', subject: image.id })
    image.state = act === 'release' ? 'visible' : act === 'hold' ? 'held' : 'removed'
  } else {
    tally.errors++
    image.state = null
  }
}

/** The origin has answered, and the cache has not heard it. A cache asks no origin that it takes for sick: asked again. */
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
    PATIENCE_MS,
  )
  return { ended: fill }
}

/** On the admin server, with the token of programs. `decide`: a removal that can be undone. */
async function send(server: RunningServer, act: Act, id: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const form = { image: id, act: act === 'decide' ? 'remove' : act, reason: 'a drill', rule: 'other' }
  const path = act === 'decide' ? `/cases/${id}` : '/images'
  return atAdmin(server.dataDir, 'POST', path, { headers, form }).then(
    ({ status }) => status === 303,
    () => false,
  )
}

/** Until nothing is to be done any more: no decision, no move, no purge. */
async function settle({ server, images }: Scene): Promise<void> {
  for (const image of images.filter(({ state }) => state === 'removed')) {
    await until('it is removed', async () => (await statusOf(server.url, image.id)) === 410, PATIENCE_MS)
  }
  await until(
    'no purge is owed',
    async () => (await request(server.url, 'GET', '/readyz')).json().purgesOwed === 0,
    PATIENCE_MS,
  )
}
