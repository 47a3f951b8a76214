/**
 * The cost of challenges for a flood from many addresses, and for the server: CPU time of both per upload after the first five
 * of an address. The attacker computes in native code and stores only the answers.
 */
import { pbkdf2Sync } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { forEachConcurrent } from '../../src/async.ts'
import { type Challenge, PASS_UPLOADS, type Problem, UNCHALLENGED_UPLOADS } from '../../src/protocol.ts'
import { WORK } from '../../src/service/challenge/challenges.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { processorTime } from '../load/processors.ts'
import type { BenchOptions, Figures } from '../report/figures.ts'

const ENV = { TRUSTED_PROXIES: '127.0.0.1/32' }
const CONCURRENCY = 8
const WARM_UP = 500

/** Number of challenges to solve, regardless of `clients`: each takes about a second, and challenges expire in ten minutes. */
const SOLVED = 150

/** The first solutions are for warm-up: submitted but not measured. */
const SOLVED_FOR_WARM_UP = 50

/** Number of measured passes. Each takes twenty seconds to solve. */
const PASSES = 2

/** CPU time of `count` operations. */
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
    const addresses = Array.from({ length: clients }, (_, index) => `198.18.${index >> 8}.${index & 255}`)
    const flood = async (
      server: typeof on,
      status: number,
      headersOf: (index: number) => Headers = () => ({}),
      count = clients,
    ) => {
      const answers: Problem[] = []
      const cost = await costOf(server.pid, count, async (index) => {
        const answer = await upload(server.url, addresses[index]!, headersOf(index))
        const body = await answer.json()
        if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(body)}`)
        answers[index] = body as Problem
      })
      return { cost, answers }
    }
    console.error('  the first uploads')
    for (let index = 0; index < UNCHALLENGED_UPLOADS; index++)
      for (const server of servers) await flood(server, 201)

    console.error(`  ${clients} challenges`)
    let network = 0
    // In a flood, the server's code is compiled and connections are open, unlike on an idle server.
    const warmUp = async () => {
      network++
      for (let index = 0; index < WARM_UP; index++) {
        const address = `198.19.${network}.${index & 255}`
        for (const { url } of servers) await (await upload(url, address, {})).arrayBuffer()
        await (await upload(on.url, addresses[index % clients]!, {})).arrayBuffer()
      }
    }
    await warmUp()
    const refused = await flood(on, 403)
    const before = process.cpuUsage()
    const solutions = refused.answers.slice(0, SOLVED).map(({ challenge }) => solve(challenge!))
    const trySeconds = processorSeconds(before) / tries
    // Let the client notice connections that were closed meanwhile.
    await sleep(1000)
    await warmUp()
    // Use other challenges for the forged solutions: one may be correct by chance and use up its challenge.
    const others = await flood(on, 403)
    const forged = await flood(on, 403, (index) => ({ 'Challenge-Solution': forge(others.answers[index]!) }))
    const warmingUp = solutions.splice(0, SOLVED_FOR_WARM_UP)
    await flood(on, 201, (index) => ({ 'Challenge-Solution': warmingUp[index]! }), warmingUp.length)
    const solutionOf = (index: number) => ({ 'Challenge-Solution': solutions[index]! })
    const solved = await flood(on, 201, solutionOf, solutions.length)
    const plain = await flood(off, 201)

    console.error('  passes')
    const count = Math.min(clients, PASS_UPLOADS)
    const issuingCosts: Cost[] = []
    const usingCosts: Cost[] = []
    for (let index = 0; index <= PASSES; index++) {
      const response = await fetch(`${on.url}/api/challenge?for=pass`)
      const headers = { 'Challenge-Solution': solve((await response.json()) as Challenge) }
      await sleep(1000)
      await warmUp()
      let pass = ''
      const issuing = await costOf(on.pid, 1, async () => {
        const answer = await fetch(`${on.url}/api/pass`, { method: 'POST', headers })
        pass = ((await answer.json()) as { pass: string }).pass
      })
      const using = await costOf(on.pid, count, async (index) => {
        const answer = await upload(on.url, addresses[index]!, { Authorization: `Bearer ${pass}` })
        if (answer.status !== 201) throw new Error(await answer.text())
      })
      // The first pass is warm-up: it compiles the code, and creates the ledger's file for tomorrow.
      if (index === 0) continue
      issuingCosts.push(issuing)
      usingCosts.push(using)
    }

    // Use the expected number of tries, to exclude luck.
    const solving = trySeconds * triesOf(WORK.upload)
    const passing = (trySeconds * triesOf(WORK.pass)) / PASS_UPLOADS
    const challenged = each(refused.cost) + Math.max(0, each(solved.cost) - each(plain.cost))
    const whole = each(refused.cost) + each(solved.cost)
    const withPass =
      each(sum(issuingCosts)) / PASS_UPLOADS + Math.max(0, each(sum(usingCosts)) - each(plain.cost))
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

async function costOf(pid: number, count: number, work: (index: number) => Promise<void>): Promise<Cost> {
  const before = processorTime(pid)
  await forEachConcurrent([...Array(count).keys()], CONCURRENCY, work)
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

/** Number of hash computations so far. */
let tries = 0

function triesOf({ bits, answers }: Pick<Challenge, 'bits' | 'answers'>): number {
  return answers * 2 ** bits
}

function solve({ token, iterations, bits, answers }: Challenge): string {
  const found = Array.from({ length: answers }, (_, index) => {
    for (let counter = 0; ; counter++) {
      tries++
      const derived = pbkdf2Sync(token, `${index}.${counter}`, iterations, 4, 'sha256')
      if (derived.readUInt32BE(0) >>> (32 - bits) === 0) return counter
    }
  })
  return `${token}:${found.join(',')}`
}

/** A wrong solution with the required number of answers: with fewer, the server would reject it without hashing. */
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

function milliseconds(label: string, seconds: number) {
  return { label, values: [seconds * 1000], unit: 'ms' }
}

function times(label: string, ratio: number) {
  return { label, values: [ratio], unit: 'times', atLeast: 500 }
}
