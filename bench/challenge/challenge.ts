/**
 * What challenges cost a flood of many addresses, and the server: processor time of both for each upload past the first five of
 * an address. The attacker computes in native code and keeps nothing but the answers.
 */
import { pbkdf2Sync } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Challenge, PASS_UPLOADS, type Problem, UNCHALLENGED_UPLOADS } from '../../src/protocol.ts'
import { WORK } from '../../src/service/challenge/challenges.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { processorTime } from '../load/processors.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'

const ENV = { TRUSTED_PROXIES: '127.0.0.1/32' }
const AT_ONCE = 8
const WARM_UP = 500

/** Challenges that are really solved, whatever `clients` says: each takes about a second, and all are for ten minutes. */
const SOLVED = 150

/** Warm-up: the first solutions, which are sent and not measured. */
const SOLVED_FOR_WARM_UP = 50

/** Passes that are measured. Each takes twenty seconds. */
const PASSES = 2

/** Seconds of processor time for each of `count`. */
interface Cost {
  seconds: number
  count: number
}

export async function benchChallenge({ dir, clients }: BenchOptions): Promise<Figures> {
  const servers = await Promise.all([
    startPinhole(path.join(dir, 'on'), { ...ENV, CHALLENGE: 'on' }),
    startPinhole(path.join(dir, 'off'), ENV),
  ])
  const [on, off] = servers
  try {
    const addresses = Array.from({ length: clients }, (_, nth) => `198.18.${nth >> 8}.${nth & 255}`)
    const flood = async (
      server: typeof on,
      status: number,
      headersOf: (nth: number) => Headers = () => ({}),
      count = clients,
    ) => {
      const answers: Problem[] = []
      const cost = await costOf(server.pid, count, async (nth) => {
        const answer = await upload(server.url, addresses[nth]!, headersOf(nth))
        const told = await answer.json()
        if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(told)}`)
        answers[nth] = told as Problem
      })
      return { cost, answers }
    }
    console.error('  the first uploads')
    for (let nth = 0; nth < UNCHALLENGED_UPLOADS; nth++)
      for (const server of servers) await flood(server, 201)

    console.error(`  ${clients} challenges`)
    let network = 0
    // A flood finds the server's code compiled and its connections open; one at rest has neither.
    const warmUp = async () => {
      network++
      for (let nth = 0; nth < WARM_UP; nth++) {
        const address = `198.19.${network}.${nth & 255}`
        for (const { url } of servers) await (await upload(url, address, {})).arrayBuffer()
        await (await upload(on.url, addresses[nth % clients]!, {})).arrayBuffer()
      }
    }
    await warmUp()
    const refused = await flood(on, 403)
    const before = process.cpuUsage()
    const solutions = refused.answers.slice(0, SOLVED).map(({ challenge }) => solve(challenge!))
    const trySeconds = processorSeconds(before) / tries
    // Connections that ended meanwhile are noticed.
    await sleep(1000)
    await warmUp()
    // For other challenges: a wrong answer may be right by chance, and use one up.
    const others = await flood(on, 403)
    const forged = await flood(on, 403, (nth) => ({ 'Challenge-Solution': forge(others.answers[nth]!) }))
    const warmingUp = solutions.splice(0, SOLVED_FOR_WARM_UP)
    await flood(on, 201, (nth) => ({ 'Challenge-Solution': warmingUp[nth]! }), warmingUp.length)
    const show = (nth: number) => ({ 'Challenge-Solution': solutions[nth]! })
    const solved = await flood(on, 201, show, solutions.length)
    const plain = await flood(off, 201)

    console.error('  passes')
    const count = Math.min(clients, PASS_UPLOADS)
    const giving: Cost[] = []
    const shown: Cost[] = []
    for (let nth = 0; nth <= PASSES; nth++) {
      const asked = await fetch(`${on.url}/api/challenge?for=pass`)
      const headers = { 'Challenge-Solution': solve((await asked.json()) as Challenge) }
      await sleep(1000)
      await warmUp()
      let pass = ''
      const given = await costOf(on.pid, 1, async () => {
        const answer = await fetch(`${on.url}/api/pass`, { method: 'POST', headers })
        pass = ((await answer.json()) as { pass: string }).pass
      })
      const used = await costOf(on.pid, count, async (nth) => {
        const answer = await upload(on.url, addresses[nth]!, { Authorization: `Bearer ${pass}` })
        if (answer.status !== 201) throw new Error(await answer.text())
      })
      // The first one compiles the code, and makes the ledger's file of tomorrow.
      if (nth === 0) continue
      giving.push(given)
      shown.push(used)
    }

    // On average: luck is not measured.
    const solving = trySeconds * triesOf(WORK.upload)
    const passing = (trySeconds * triesOf(WORK.pass)) / PASS_UPLOADS
    const challenged = each(refused.cost) + Math.max(0, each(solved.cost) - each(plain.cost))
    const whole = each(refused.cost) + each(solved.cost)
    const withPass = each(sum(giving)) / PASS_UPLOADS + Math.max(0, each(sum(shown)) - each(plain.cost))
    return {
      measures: [
        milliseconds('attacker: solving a challenge', solving),
        milliseconds('server: refusing a forged solution', each(forged.cost)),
        times('attacker / server, for what challenges add', solving / challenged),
        times('attacker / server, for refusal and upload', solving / whole),
        milliseconds('attacker: an upload’s part of a pass', passing),
        times('attacker / server, for what a pass adds', passing / withPass),
      ],
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

type Headers = Record<string, string>

async function costOf(pid: number, count: number, work: (nth: number) => Promise<void>): Promise<Cost> {
  const before = processorTime(pid)
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return { seconds: (processorTime(pid) - before) / 1e6, count }
}

function upload(url: string, address: string, headers: Headers): Promise<Response> {
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(gif())]), 'image.gif')
  return fetch(`${url}/api/upload`, {
    method: 'POST',
    body,
    headers: { 'X-Forwarded-For': address, ...headers },
  })
}

/** Made so far. */
let tries = 0

function triesOf({ bits, answers }: Pick<Challenge, 'bits' | 'answers'>): number {
  return answers * 2 ** bits
}

function solve({ token, iterations, bits, answers }: Challenge): string {
  const found = Array.from({ length: answers }, (_, nth) => {
    for (let counter = 0; ; counter++) {
      tries++
      const derived = pbkdf2Sync(token, `${nth}.${counter}`, iterations, 4, 'sha256')
      if (derived.readUInt32BE(0) >>> (32 - bits) === 0) return counter
    }
  })
  return `${token}:${found.join(',')}`
}

/** With as many answers as there must be: with fewer it would cost no try. */
function forge({ challenge }: Problem): string {
  return `${challenge!.token}:${Array(challenge!.answers).fill(0)}`
}

function processorSeconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function sum(costs: Cost[]): Cost {
  const of = (part: keyof Cost) => costs.reduce((total, cost) => total + cost[part], 0)
  return { seconds: of('seconds'), count: of('count') }
}

function each({ seconds, count }: Cost): number {
  return seconds / count
}

function milliseconds(what: string, seconds: number) {
  return { what, values: [seconds * 1000], unit: 'ms' }
}

function times(what: string, ratio: number) {
  return { what, values: [ratio], unit: 'times', atLeast: 500 }
}
