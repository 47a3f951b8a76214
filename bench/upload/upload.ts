/** Uploads, against servers that only write the body to disk. */
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { ENVIRONMENT } from '../../bin/tuning.mjs'
import { memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import type { Child } from '../contestants/child.ts'
import { startPinhole, startReference, UNLIMITED } from '../contestants/contestants.ts'
import { type Contestant, interleaved } from '../load/interleaved.ts'
import { noisePictures } from '../load/pictures.ts'
import { processorTime } from '../load/processors.ts'
import { uploadsOf, type WrkResult, type WrkRun, wrk } from '../load/wrk.ts'
import { type BenchOptions, comparisonOf, type Figures } from '../report/figures.ts'

const CONNECTIONS = 64
const PICTURES = 256
const PICTURE_BYTES = 204_800
const WARM_UP_SECONDS = 2
const LABELS: Record<string, string> = {
  pinhole: 'upload 200 KB',
  'pinhole, metadata': 'upload 200 KB, metadata to remove',
}

export async function benchUpload({ dir, rounds, seconds }: BenchOptions): Promise<Figures> {
  const pictures = await noisePictures(PICTURES, PICTURE_BYTES)
  const clean = await uploadsOf(path.join(dir, 'clean'), pictures)
  const tagged = await uploadsOf(
    path.join(dir, 'tagged'),
    await noisePictures(PICTURES, PICTURE_BYTES, { withMetadata: true }),
  )
  const threads = { UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE ?? ENVIRONMENT.UV_THREADPOOL_SIZE! }
  const folder = async (name: string) => {
    const created = path.join(dir, name)
    await mkdir(created, { recursive: true })
    return created
  }
  const children: Child[] = []
  const start = async (child: Promise<Child>) => {
    children.push(await child)
    return child
  }
  try {
    const ours = path.join(dir, 'pinhole')
    const pinhole = await start(startPinhole(ours, UNLIMITED))
    const contestants: Contestant[] = []
    // CPU time per upload, by round. Unit: microseconds.
    const costs = new Map<string, number[]>()
    const addCost = (name: string, cost: number) => costs.set(name, [...(costs.get(name) ?? []), cost])
    const addContestant = async (name: string, server: Child, stored: string, script: WrkRun['script']) => {
      await measureUploads(server, stored, script, WARM_UP_SECONDS)
      contestants.push({
        name,
        prepare: settle,
        async measure() {
          const before = processorTime(server.pid)
          const run = await measureUploads(server, stored, script, seconds)
          addCost(name, (processorTime(server.pid) - before) / run.requests)
          return run.requestsPerSecond
        },
      })
    }
    await addContestant('pinhole', pinhole, ours, clean)
    for (const mode of ['collect', 'stream', 'durable']) {
      const stored = await folder(`sink-${mode}`)
      await addContestant(
        `sink, ${mode}`,
        await start(startReference('sink', dir, [stored, mode], threads)),
        stored,
        clean,
      )
    }
    const stored = await folder('fastify')
    await addContestant(
      'fastify',
      await start(startReference('fastify-sink', dir, [stored], threads)),
      stored,
      clean,
    )
    await addContestant('pinhole, metadata', pinhole, ours, tagged)

    const picture = new Uint8Array(pictures[0]!)
    for (const [name, work] of Object.entries(STEPS)) {
      contestants.push({
        name,
        async measure() {
          const cost = await timeOf(() => work(picture))
          addCost(name, cost)
          return 1e6 / cost
        },
      })
    }

    const values = await interleaved(contestants, rounds)
    const compare = (subject: string, reference: string, atLeast?: number) =>
      comparisonOf(values, subject, reference, { label: LABELS[subject]!, unit: 'uploads/s', atLeast })
    const compareCosts = (subject: string, sink: string, atMost: number) => ({
      label: LABELS[subject]!,
      reference: `processor time, of ${sink} + SHA-256 + walk`,
      subjectValues: costs.get(subject)!,
      referenceValues: costs
        .get(sink)!
        .map((cost, turn) => Object.keys(STEPS).reduce((sum, step) => sum + costs.get(step)![turn]!, cost)),
      unit: 'µs',
      atMost,
    })
    return {
      comparisons: [
        compare('pinhole', 'sink, collect', 0.8),
        compare('pinhole', 'sink, stream', 0.8),
        compare('pinhole', 'sink, durable'),
        compare('pinhole', 'fastify', 0.7),
        compare('pinhole, metadata', 'sink, collect'),
        ...['sink, collect', 'sink, durable'].flatMap((sink) => [
          compareCosts('pinhole', sink, 1.25),
          compareCosts('pinhole, metadata', sink, 1.5),
        ]),
      ],
    }
  } finally {
    for (const child of children) await child.stop()
  }
}

/** The minimal work per upload besides receiving and writing it. Each step is measured separately. */
const STEPS: Record<string, (picture: Uint8Array) => unknown> = {
  'SHA-256': (picture) => hash('sha256', picture),
  'walk of its structure': (picture) => inspect(memorySource(picture), { strip: true }),
}
const TIMES = 400

/** CPU time per call. Unit: microseconds. */
async function timeOf(work: () => unknown): Promise<number> {
  for (let i = 0; i < TIMES / 4; i++) await work()
  const before = process.cpuUsage()
  for (let i = 0; i < TIMES; i++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / TIMES
}

/** Measures uploads, and checks that all acknowledged ones are on disk. */
async function measureUploads(
  server: Child,
  stored: string,
  script: WrkRun['script'],
  seconds: number,
): Promise<WrkResult> {
  const before = (await picturesIn(stored)).length
  const result = await wrk({
    url: `${server.url}/api/upload`,
    connections: CONNECTIONS,
    seconds,
    script,
  })
  const written = (await picturesIn(stored)).length - before
  if (written < result.requests)
    throw new Error(`${result.requests} acknowledged, ${written} on disk in ${stored}`)
  return result
}

async function picturesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  const sizes = await Promise.all(files.map(async (file) => (await stat(file).catch(() => null))?.size ?? 0))
  return files.filter((_, index) => sizes[index]! > PICTURE_BYTES / 2 && !isDatabase(files[index]!))
}

/**
 * Flushes dirty pages, so that the kernel has nothing to write during the next turn. Files are not deleted between turns:
 * without a journal, ext4 searches for new inodes among all recently deleted ones, which would distort the result.
 */
async function settle(): Promise<void> {
  await promisify(execFile)('sync')
}

function isDatabase(file: string): boolean {
  return /\.(sqlite|db)(-wal|-shm)?$/.test(file)
}
