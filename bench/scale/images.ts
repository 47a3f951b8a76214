/** A folder of many images: disk, start, memory, reads and writes, beside a folder of few. */
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gif } from '../../test/support/images/tiny-images.ts'
import type { Child } from '../contestants/child.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import type { Measure } from '../report/figures.ts'
import { percentile } from '../report/statistics.ts'
import { fillStore } from './fill-store.ts'

const run = promisify(execFile)

const FEW = 1000
const ROUNDS = 7
/** Reads of each round. */
const READS = 3000
const UPLOADS = 100
const IMAGE_BYTES = 2000

export async function measureImages(dir: string, count: number): Promise<Measure[]> {
  const few = await fill(path.join(dir, 'few'), FEW)
  const filledAt = performance.now()
  const many = await fill(path.join(dir, 'many'), count)
  const seconds = (performance.now() - filledAt) / 1000
  console.error(`    ${count.toLocaleString('en')} images written in ${Math.round(seconds)} s`)
  const objects = path.join(many.folder, 'data/images/objects')
  const { stdout } = await run('du', ['-s', '-B1', objects])
  const { size } = await stat(path.join(objects, many.ids[0]!))
  return [
    { what: 'disk an image', values: [Number(stdout.split('\t')[0]) / count], unit: 'bytes' },
    { what: 'of which image and record', values: [size], unit: 'bytes' },
    ...(await measureServers([few, many].map((filled) => ({ ...filled, name: nameOf(filled) })))),
  ]
}

interface Filled {
  folder: string
  ids: string[]
}

function nameOf({ ids }: Filled): string {
  return `${ids.length.toLocaleString('en')} images`
}

async function fill(folder: string, count: number): Promise<Filled> {
  return { folder, ids: await fillStore(path.join(folder, 'data/images'), count, [IMAGE_BYTES]) }
}

/** Interleaved, so that what slows the machine for a while slows both. */
async function measureServers(folders: (Filled & { name: string })[]): Promise<Measure[]> {
  const found: Subject[] = folders.map((folder) => ({
    ...folder,
    starts: [],
    memory: [],
    reads: [],
    uploads: [],
  }))
  for (let round = 0; round < ROUNDS; round++) {
    for (const { folder, starts, memory } of found) {
      const server = await startPinhole(folder)
      starts.push(server.startMs)
      memory.push(server.memory().resident)
      await server.stop()
    }
  }
  try {
    // Without a hot set: every read comes from its file.
    const env = { HOT_SET_BYTES: '0', UPLOADS_PER_DAY: '1000000' }
    for (const subject of found) subject.server = await startPinhole(subject.folder, env)
    for (let round = 0; round < ROUNDS; round++) {
      for (const { server, ids, reads, uploads } of found) {
        const offset = round * READS
        reads.push(
          ...(await timed(READS, (nth) => read(server!, ids[((offset + nth) * 7919) % ids.length]!))),
        )
        uploads.push(...(await timed(UPLOADS, () => upload(server!.url, gif()))))
      }
    }
    return found.flatMap(({ name, starts, memory, reads, uploads, server }) => [
      { what: `start with ${name}`, values: starts, unit: 'ms' },
      { what: `memory after the start with ${name}`, values: memory, unit: 'MB' },
      ...percentiles(`GET one of ${name}`, ascending(reads)),
      ...percentiles(`upload beside ${name}`, ascending(uploads)),
      { what: `memory afterwards with ${name}`, values: [server!.memory().resident], unit: 'MB' },
    ])
  } finally {
    for (const { server } of found) await server?.stop()
  }
}

interface Subject extends Filled {
  name: string
  starts: number[]
  memory: number[]
  reads: number[]
  uploads: number[]
  server?: Child
}

function ascending(values: number[]): number[] {
  return values.toSorted((a, b) => a - b)
}

async function read(server: Child, id: string): Promise<void> {
  const response = await fetch(`${server.url}/raw/${id}`)
  const { length } = await response.bytes()
  if (response.status !== 200 || length !== IMAGE_BYTES) throw new Error(`GET ${id}: ${response.status}`)
}

/** One after the other. Unit: milliseconds, ascending. */
export async function timed(times: number, act: (nth: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = []
  for (let nth = 0; nth < times; nth++) {
    const startedAt = performance.now()
    await act(nth)
    took.push(performance.now() - startedAt)
  }
  return took.sort((a, b) => a - b)
}

export function percentiles(what: string, took: number[]): Measure[] {
  return [
    { what: `${what}, median`, values: [percentile(took, 0.5)], unit: 'ms' },
    { what: `${what}, p99`, values: [percentile(took, 0.99)], unit: 'ms' },
  ]
}
