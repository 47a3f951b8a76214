/** GET /raw/<id> of images in memory and in files, against other servers with the same bytes and headers. */
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Child } from '../contestants/child.ts'
import {
  sharedHeaders,
  startCaddy,
  startNginx,
  startPinhole,
  startReference,
} from '../contestants/contestants.ts'
import { interleaved } from '../load/interleaved.ts'
import { upload } from '../load/multipart.ts'
import { LARGE, largePictures, MEDIUM, noisePicture, SMALL } from '../load/pictures.ts'
import { bind, GENERATOR_CORE, processorTime, SERVER_CORE } from '../load/processors.ts'
import { wrk } from '../load/wrk.ts'
import { type BenchOptions, type Comparison, comparisonOf, type Figures } from '../report/figures.ts'

interface Case {
  name: string
  bytes: number
  range?: string
  /** Required ratio to nginx's rate. Only in unpinned runs: in pinned runs, server and load generator have a core each. */
  atLeast?: number
}

interface Reads {
  label: string
  env: Record<string, string>
  connections: number
  cases: Case[]
  /** `headers`: those of our response. `headersPath`: the same as a JSON file. */
  references: Record<
    string,
    (dir: string, files: string, headers: [string, string][], headersPath: string) => Promise<Child>
  >
  /** Contestants of the pinned run, with a core each for server and load generator. */
  withCoreEach: string[]
  /** The reference for the comparison of CPU time. */
  costsOf?: string
  atLeast(reference: string, read: Case, isPinned: boolean): number | undefined
}

export function benchGet(options: BenchOptions): Promise<Figures> {
  return benchReads(options, {
    label: 'GET',
    env: {},
    connections: 32,
    cases: [
      { ...SMALL, atLeast: 0.8 },
      { ...MEDIUM, atLeast: 1 },
      { ...LARGE, atLeast: 1 },
    ],
    references: {
      nginx: (dir, _, headers) => startNginx(dir, headers),
      'node:http': (dir, files, _, headersPath) => startReference('plain-get', dir, [files, headersPath]),
      hono: (dir, files, _, headersPath) => startReference('hono-get', dir, [files, headersPath]),
    },
    withCoreEach: ['pinhole', 'nginx', 'node:http', 'hono'],
    atLeast(reference, read, isPinned) {
      if (reference === 'nginx') return isPinned ? undefined : read.atLeast
      return reference === 'node:http' ? 0.95 : undefined
    },
  })
}

/** Images that are only in the page cache: Pinhole without a hot set, against file servers. */
export function benchCold(options: BenchOptions): Promise<Figures> {
  return benchReads(options, {
    label: 'cold GET',
    env: { HOT_SET_BYTES: '0' },
    connections: 16,
    cases: [
      SMALL,
      MEDIUM,
      LARGE,
      { name: '25 MB', bytes: 25_600_000 },
      { name: '10 KB of 25 MB', bytes: 25_600_000, range: 'bytes=12345678-12355917' },
    ],
    references: {
      'node:http, whole': (dir, files, _, headersPath) =>
        startReference('cold-get', dir, [files, headersPath, 'whole']),
      'node:http, stream': (dir, files, _, headersPath) =>
        startReference('cold-get', dir, [files, headersPath, 'stream']),
      fastify: (dir, files) => startReference('fastify-static', dir, [files]),
      nginx: (dir, _, headers) => startNginx(dir, headers),
      caddy: startCaddy,
    },
    withCoreEach: ['pinhole', 'node:http, whole', 'nginx'],
    costsOf: 'node:http, whole',
    atLeast: (reference) => (reference.startsWith('node:http') ? 0.9 : undefined),
  })
}

async function benchReads({ dir, rounds, seconds }: BenchOptions, reads: Reads): Promise<Figures> {
  const files = path.join(dir, 'files')
  await mkdir(files, { recursive: true })
  const pinhole = await startPinhole(path.join(dir, 'pinhole'), reads.env)
  const servers = new Map<string, Child>([['pinhole', pinhole]])
  try {
    const ids = new Map<number, string>()
    let headers: [string, string][] = []
    for (const { bytes } of reads.cases) {
      if (ids.has(bytes)) continue
      const picture = bytes > 20e6 ? (await largePictures())[1]! : await noisePicture(bytes)
      const id = await upload(pinhole.url, picture)
      const response = await fetch(`${pinhole.url}/raw/${id}`)
      headers = sharedHeaders(response)
      await writeFile(path.join(files, `${id}.jpg`), await response.bytes())
      ids.set(bytes, id)
    }
    const headersPath = path.join(dir, 'headers.json')
    await writeFile(headersPath, JSON.stringify(headers))
    for (const [name, start] of Object.entries(reads.references)) {
      servers.set(name, await start(dir, files, headers, headersPath))
    }

    const comparisons: Comparison[] = []
    for (const isPinned of [false, true]) {
      const all = `0-${availableParallelism() - 1}`
      for (const { pid } of servers.values()) bind(pid, isPinned ? `${SERVER_CORE}` : all)
      const entrants = [...servers].filter(([name]) => !isPinned || reads.withCoreEach.includes(name))
      for (const read of reads.cases) {
        const label = `${reads.label} ${read.name}${isPinned ? ', a core each' : ''}`
        console.error(`  ${label}`)
        const costs = new Map<string, number[]>()
        const contestants = entrants.map(([name, server]) => ({
          name,
          async measure() {
            const before = processorTime(server.pid)
            const run = await wrk({
              url: `${server.url}/raw/${ids.get(read.bytes)}${name === 'pinhole' ? '' : '.jpg'}`,
              connections: reads.connections,
              seconds,
              headers: read.range === undefined ? {} : { Range: read.range },
              core: isPinned ? GENERATOR_CORE : undefined,
            })
            const cost = (processorTime(server.pid) - before) / run.requests
            costs.set(name, [...(costs.get(name) ?? []), cost])
            return run.requestsPerSecond
          },
        }))
        const values = await interleaved(contestants, rounds)
        for (const [reference] of entrants.slice(1)) {
          const atLeast = reads.atLeast(reference, read, isPinned)
          comparisons.push(comparisonOf(values, 'pinhole', reference, { label, unit: 'req/s', atLeast }))
        }
        if (reads.costsOf !== undefined) {
          const reference = `processor time, of ${reads.costsOf}`
          comparisons.push(comparisonOf(costs, 'pinhole', reads.costsOf, { label, unit: 'µs', reference }))
        }
      }
    }
    return { comparisons }
  } finally {
    for (const server of servers.values()) await server.stop()
  }
}
