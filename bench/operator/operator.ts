/**
 * The cost of the operator's features: a server with the defaults against one with the features off, in many short turns. A
 * third server, also with the features off, shows how much two equal servers differ on this machine.
 */
import path from 'node:path'
import type { Child } from '../contestants/child.ts'
import { startPinhole, UNLIMITED } from '../contestants/contestants.ts'
import { interleaved } from '../load/interleaved.ts'
import { upload } from '../load/multipart.ts'
import { MEDIUM, noisePicture, noisePictures, SMALL } from '../load/pictures.ts'
import { processorTime } from '../load/processors.ts'
import { uploadsOf, type WrkRun, wrk } from '../load/wrk.ts'
import { type BenchOptions, type Comparison, comparisonOf, type Figures } from '../report/figures.ts'

const GET_CONNECTIONS = 32
const UPLOAD_CONNECTIONS = 64
const PICTURES = 256
const WARM_UP_SECONDS = 3
/** Length of a turn. Temporary slowdowns of the machine are rarely shorter. */
const TURN_SECONDS = 1
/** Bounds: ratio of the rates, and ratio of the CPU times. */
const [AT_LEAST, AT_MOST] = [0.97, 1.03]

/** No admin server, no uploader tags. Caps and notices are off by default. */
const OFF = { OPERATOR_LISTEN: 'off', UPLOADER_LINKS: 'off' }
const SERVERS = { on: {}, off: OFF, 'off, again': OFF }
type Name = keyof typeof SERVERS
const NAMES = Object.keys(SERVERS) as Name[]

export async function benchOperator({ dir, rounds, seconds }: BenchOptions): Promise<Figures> {
  const script = await uploadsOf(path.join(dir, 'bodies'), await noisePictures(PICTURES, MEDIUM.bytes))
  const servers = new Map<Name, Child>()
  const comparisons: Comparison[] = []
  try {
    for (const name of NAMES) {
      const env = { ...UNLIMITED, ...SERVERS[name] }
      servers.set(name, await startPinhole(path.join(dir, name.replace(', ', '-')), env))
    }
    const compare = async (label: string, unit: string, loadOf: (server: Child) => Promise<Load>) => {
      console.error(`  ${label}`)
      const loads = new Map<Name, Load>()
      for (const name of NAMES) loads.set(name, await loadOf(servers.get(name)!))
      for (const load of loads.values()) await wrk({ ...load, seconds: WARM_UP_SECONDS })
      // CPU time per request, by turn. Unit: microseconds.
      const costs = new Map<Name, number[]>(NAMES.map((name) => [name, []]))
      const contestants = NAMES.map((name) => ({
        name,
        async measure() {
          const { pid } = servers.get(name)!
          const before = processorTime(pid)
          const run = await wrk({ ...loads.get(name)!, seconds: TURN_SECONDS })
          costs.get(name)!.push((processorTime(pid) - before) / run.requests)
          return run.requestsPerSecond
        },
      }))
      const rates = await interleaved(contestants, Math.max(1, Math.round((rounds * seconds) / TURN_SECONDS)))
      comparisons.push(
        comparisonOf(rates, 'on', 'off', { label, unit, reference: 'features off', atLeast: AT_LEAST }),
        comparisonOf(rates, 'off, again', 'off', { label, unit, reference: 'off / off' }),
        comparisonOf(costs, 'on', 'off', { label, unit, reference: 'processor time', atMost: AT_MOST }),
        comparisonOf(costs, 'off, again', 'off', { label, unit, reference: 'processor time, off / off' }),
      )
    }
    for (const { name, bytes } of [SMALL, MEDIUM]) {
      const picture = await noisePicture(bytes)
      await compare(`GET ${name}`, 'req/s', async ({ url }) => ({
        url: `${url}/raw/${await upload(url, picture)}`,
        connections: GET_CONNECTIONS,
      }))
    }
    await compare(`upload ${MEDIUM.name}`, 'uploads/s', async ({ url }) => ({
      url: `${url}/api/upload`,
      connections: UPLOAD_CONNECTIONS,
      script,
    }))
    return { comparisons }
  } finally {
    for (const server of servers.values()) await server.stop()
  }
}

type Load = Omit<WrkRun, 'seconds'>
