/** `npm run attack -- [PATTERN] [--seconds 2] [--save]`: what each route costs others when it is attacked. See README.md. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import {
  descriptors,
  forgetPeak,
  peakMegabytes,
  processorSeconds,
} from '../../test/support/attack/process-costs.ts'
import { type Target, targetsFor } from '../../test/support/attack/targets.ts'
import { WAYS, type Way } from '../../test/support/attack/ways.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { store } from '../../test/support/upload.ts'
import type { Child } from '../contestants/child.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { probe } from '../load/probe.ts'
import { machine } from '../report/machine.ts'

/** Demanded. Units: milliseconds, MB, seconds of processor time a megabyte. */
const MOST_P99 = 100
const MOST_RESIDENT = 250
const MOST_SECONDS_A_MEGABYTE = 0.1

/** Others come from 127.0.0.1. A new one for each attack: some are shut out. */
let attackers = 0
const newAttacker = () => `127.0.1.${++attackers}`

const LARGE_BYTES = 26_000_000

/** What is let go of a while after the attack: connections that are drained, drafts. */
const SETTLE_MS = 8000

const HEAD =
  '| route | way | p99 of others, ms (idle) | resident, MB | descriptors left | sent, MB | connections | processor, s | s/MB | |'
const RULE = '|---|---|---|---|---|---|---|---|---|---|'

interface Figures {
  p99: number
  resident: number
  left: number
  cpu: number
  megabytes: number
  connections: number
}

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '2' }, save: { type: 'boolean', default: false } },
})
const seconds = Number(flags.seconds)
const dir = await mkdtemp(path.join(tmpdir(), 'pinhole-attack-'))
try {
  const rows: string[] = []
  for (const [nth, target] of targetsFor({ smallId: '', largeId: '' }).entries()) {
    const ways = WAYS.filter((way) => `${titleOf(target)} ${way.name}`.includes(positionals.join(' ')))
    if (ways.length > 0) rows.push(...(await attackRoute(nth, ways)))
  }
  const table = [HEAD, RULE, ...rows].join('\n')
  console.log(table)
  if (flags.save) await save(`${machine()}\n\n${table}`)
} finally {
  await rm(dir, { recursive: true, force: true })
}

/** A server of its own for each: what one attack leaves in the heap is not held against the next. */
async function attackRoute(nth: number, ways: Way[]): Promise<string[]> {
  const server = await startPinhole(path.join(dir, `${nth}`))
  try {
    const [small, large] = [
      await store(server.url, gif()),
      await store(server.url, gif({ size: LARGE_BYTES })),
    ]
    const target = targetsFor({ smallId: small.id, largeId: large.id })[nth]!
    const rest = await measure(server, small.id, async () => {
      await sleep(seconds * 1000)
      return { bytes: 0, connections: 0 }
    })
    const rows: string[] = []
    for (const way of ways) {
      const figures = await measure(server, small.id, () => attackWith(server, way, target))
      rows.push(row(titleOf(target), way.name, figures, rest, way.isBulk))
      console.error(rows.at(-1))
    }
    return rows
  } finally {
    await server.stop()
  }
}

async function measure(
  { pid, url }: Child,
  probedId: string,
  act: () => Promise<{ bytes: number; connections: number }>,
): Promise<Figures> {
  const before = descriptors(pid)
  forgetPeak(pid)
  const spent = processorSeconds(pid)
  const end = new AbortController()
  const others = probe(`${url}/raw/${probedId}`, end.signal)
  const { bytes, connections } = await act()
  end.abort()
  const took = await others
  const cpu = processorSeconds(pid) - spent
  const resident = peakMegabytes(pid)
  const deadline = performance.now() + SETTLE_MS
  while (descriptors(pid) > before && performance.now() < deadline) await sleep(100)
  return {
    p99: took[Math.floor(took.length * 0.99)]!,
    resident,
    left: Math.max(0, descriptors(pid) - before),
    cpu,
    megabytes: bytes / 1e6,
    connections,
  }
}

async function attackWith(
  server: Child,
  way: Way,
  target: Target,
): Promise<{ bytes: number; connections: number }> {
  const order = {
    way: way.name,
    target,
    port: Number(new URL(server.url).port),
    from: newAttacker(),
    seconds,
  }
  const { stdout } = await promisify(execFile)(process.execPath, [
    path.join(import.meta.dirname, 'attacker.ts'),
    JSON.stringify(order),
  ])
  return JSON.parse(stdout)
}

function titleOf({ method, path: address, headers }: Target): string {
  const plain = address.replace(/[0-9A-Za-z]{43}/, '<key>').replace(/\b[0-9A-Za-z]{11}\b/, '<id>')
  return `${method} ${plain}${headers ? ', one byte' : ''}`
}

function row(route: string, way: string, figures: Figures, rest: Figures, isBulk: boolean): string {
  const { p99, resident, left, megabytes, connections } = figures
  const cpu = Math.max(0, figures.cpu - rest.cpu)
  // Less says more about connecting than about reading.
  const perMegabyte = isBulk && megabytes > 1 ? cpu / megabytes : null
  const holds =
    p99 <= MOST_P99 &&
    resident <= MOST_RESIDENT &&
    left === 0 &&
    (perMegabyte === null || perMegabyte <= MOST_SECONDS_A_MEGABYTE)
  const cells = [
    route,
    way,
    `${p99.toFixed(0)} (${rest.p99.toFixed(0)})`,
    resident.toFixed(0),
    left,
    megabytes.toFixed(1),
    connections,
    cpu.toFixed(2),
    perMegabyte?.toFixed(3) ?? '',
    holds ? '' : '**missed**',
  ]
  return `| ${cells.join(' | ')} |`
}

async function save(figures: string): Promise<void> {
  const file = path.join(import.meta.dirname, '../attack.md')
  const text = await readFile(file, 'utf8')
  const mark = '<!-- figures -->'
  await writeFile(file, `${text.slice(0, text.indexOf(mark) + mark.length)}\n\n${figures}\n`)
}
