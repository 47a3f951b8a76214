/** Images that are in nobody's memory but the page cache: ours without a hot set, against servers of files. */
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Child } from '../contestants/child.ts'
import { startCaddy, startNginx, startPinhole, startReference } from '../contestants/contestants.ts'
import { sharedHeaders } from '../contestants/shared-headers.ts'
import { interleaved } from '../load/interleaved.ts'
import { upload } from '../load/multipart.ts'
import type { BenchOptions } from '../load/options.ts'
import { largePictures, noisePictures } from '../load/pictures.ts'
import { bind, GENERATOR_CORE, processorTime, SERVER_CORE } from '../load/processors.ts'
import { LARGE, MEDIUM, SMALL } from '../load/sizes.ts'
import { wrk } from '../load/wrk.ts'
import type { Comparison, Figures, Measure } from '../report/figures.ts'

const CONNECTIONS = 16
const CASES: { name: string; bytes: number; range?: string }[] = [
  SMALL,
  MEDIUM,
  LARGE,
  { name: '25 MB', bytes: 25_600_000 },
  { name: '10 KB of 25 MB', bytes: 25_600_000, range: 'bytes=12345678-12355917' },
]

/** Contestants that run a second time, with a core for each of server and load generator. */
const WITH_A_CORE_EACH = ['pinhole', 'node:http, whole', 'nginx']

export async function benchCold({ dir, rounds, seconds }: BenchOptions): Promise<Figures> {
  const files = path.join(dir, 'files')
  await mkdir(files, { recursive: true })
  const pinhole = await startPinhole(path.join(dir, 'pinhole'), { HOT_SET_BYTES: '0' })
  const servers = new Map<string, Child>([['pinhole', pinhole]])
  try {
    const ids = new Map<number, string>()
    let headers: [string, string][] = []
    for (const { bytes } of CASES) {
      if (ids.has(bytes)) continue
      const picture = bytes > 20e6 ? (await largePictures())[1]! : (await noisePictures(1, bytes))[0]!
      const id = await upload(pinhole.url, new Uint8Array(picture))
      const response = await fetch(`${pinhole.url}/raw/${id}`)
      headers = sharedHeaders(response)
      await writeFile(path.join(files, `${id}.jpg`), await response.bytes())
      ids.set(bytes, id)
    }
    const headersPath = path.join(dir, 'headers.json')
    await writeFile(headersPath, JSON.stringify(headers))
    for (const way of ['whole', 'stream']) {
      servers.set(`node:http, ${way}`, await startReference('cold-get', dir, [files, headersPath, way]))
    }
    servers.set('fastify', await startReference('fastify-static', dir, [files]))
    servers.set('nginx', await startNginx(dir, headers))
    servers.set('caddy', await startCaddy(dir))

    const comparisons: Comparison[] = []
    const measures: Measure[] = []
    for (const isPinned of [false, true]) {
      const all = `0-${availableParallelism() - 1}`
      for (const { pid } of servers.values()) bind(pid, isPinned ? `${SERVER_CORE}` : all)
      for (const { name, bytes, range } of CASES) {
        const what = `cold GET ${name}${isPinned ? ', a core each' : ''}`
        console.error(`  ${what}`)
        const costs = new Map<string, number[]>()
        const taking = [...servers].filter(([as]) => !isPinned || WITH_A_CORE_EACH.includes(as))
        const contestants = taking.map(([as, server]) => ({
          name: as,
          async measure() {
            const url = `${server.url}/raw/${ids.get(bytes)}${as === 'pinhole' ? '' : '.jpg'}`
            const before = processorTime(server.pid)
            const run = await wrk({
              url,
              connections: CONNECTIONS,
              seconds,
              headers: range === undefined ? {} : { Range: range },
              core: isPinned ? GENERATOR_CORE : undefined,
            })
            const cost = (processorTime(server.pid) - before) / run.requests
            costs.set(as, [...(costs.get(as) ?? []), cost])
            return run.requestsPerSecond
          },
        }))
        const values = await interleaved(contestants, rounds)
        for (const [reference] of taking) {
          if (reference === 'pinhole') continue
          comparisons.push({
            what,
            reference,
            subjectValues: values.get('pinhole')!,
            referenceValues: values.get(reference)!,
            unit: 'req/s',
            atLeast: reference.startsWith('node:http') ? 0.9 : undefined,
          })
        }
        for (const [as, each] of costs) {
          if (as !== 'pinhole' && as !== 'node:http, whole') continue
          measures.push({ what: `processor time of a ${what}, ${as}`, values: each, unit: 'µs' })
        }
      }
    }
    return { comparisons, measures }
  } finally {
    for (const server of servers.values()) await server.stop()
  }
}
