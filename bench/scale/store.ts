/** The cost of 100,000 stored images: start-up time, memory, and throughput. */
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { startPinhole } from '../contestants/contestants.ts'
import { interleaved } from '../load/interleaved.ts'
import { readsOf, wrk } from '../load/wrk.ts'
import { type BenchOptions, comparisonOf, type Figures } from '../report/figures.ts'
import { fillStore } from './fill-store.ts'

const CONNECTIONS = 32
/** These fit into the hot set. */
const FEW = 100

export async function benchStore({ dir, rounds, seconds, images }: BenchOptions): Promise<Figures> {
  const few = path.join(dir, 'few')
  const many = path.join(dir, 'many')
  await mkdir(many, { recursive: true })
  const empty = path.join(dir, 'empty')
  const manyIds = await fillStore(path.join(many, 'data/images'), images)
  const fewIds = await fillStore(path.join(few, 'data/images'), FEW)

  const startMs = { empty: [] as number[], many: [] as number[] }
  const resident = { empty: [] as number[], many: [] as number[] }
  const start = async (folder: string, of: 'empty' | 'many') => {
    const server = await startPinhole(folder)
    startMs[of].push(server.startMs)
    resident[of].push(server.memory().resident)
    await server.stop()
  }
  for (let round = 0; round < rounds; round++) {
    await rm(empty, { recursive: true, force: true })
    await start(empty, 'empty')
    await start(many, 'many')
  }

  const manyServer = await startPinhole(many)
  const fewServer = await startPinhole(few)
  try {
    const contestant = async (name: string, url: string, ids: string[]) => {
      const script = await readsOf(path.join(dir, `${name}.paths`), ids)
      return {
        name,
        measure: async () =>
          (await wrk({ url, connections: CONNECTIONS, seconds, script })).requestsPerSecond,
      }
    }
    const values = await interleaved(
      [
        await contestant('any of few', fewServer.url, fewIds),
        await contestant('few of many', manyServer.url, manyIds.slice(0, FEW)),
        await contestant('any of many', manyServer.url, manyIds),
      ],
      rounds,
    )
    const stored = `${images.toLocaleString('en')} stored`
    const reference = 'few stored'
    const get = (label: string, subject: string) =>
      comparisonOf(values, subject, 'any of few', { label, unit: 'req/s', reference })
    return {
      comparisons: [
        get(`GET ${FEW} of ${stored}`, 'few of many'),
        get(`GET any of ${stored}`, 'any of many'),
        {
          label: `start with ${stored}`,
          reference,
          subjectValues: startMs.many,
          referenceValues: startMs.empty,
          unit: 'ms',
        },
        {
          label: `memory with ${stored}`,
          reference,
          subjectValues: resident.many,
          referenceValues: resident.empty,
          unit: 'MB',
        },
      ],
      measures: [
        {
          label: `memory after GET of any of ${stored}`,
          values: [manyServer.memory().resident],
          unit: 'MB',
        },
      ],
    }
  } finally {
    await manyServer.stop()
    await fewServer.stop()
  }
}
