/** Profiles an upload and a hot, a cold and an S3 read. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClusterServices } from '../cluster/services.ts'
import type { Child } from '../contestants/child.ts'
import { startPinhole, UNLIMITED } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import { noisePicture, noisePictures } from '../load/pictures.ts'
import { uploadsOf, wrk } from '../load/wrk.ts'
import { type BenchOptions, type Figures, table } from '../report/figures.ts'
import { PART_NAMES, timeByPart } from './parts.ts'

const PICTURE_BYTES = 204_800
const CONNECTIONS = 16
const WARM_UP_SECONDS = 1
/** Time for the profiler to start. */
const PROFILER_START_MS = 300

interface Case {
  name: string
  title: string
  env: Record<string, string>
  /** Resolves to the number of completed requests. */
  load(server: Child, seconds: number): Promise<number>
}

export async function benchProfile({ dir, seconds }: BenchOptions): Promise<Figures> {
  const services = await startClusterServices()
  const times = new Map<string, Map<string, number>>()
  try {
    const reads = { load: readOne }
    const cases: Case[] = [
      { name: 'upload', title: 'one upload of 200 KB', env: UNLIMITED, load: uploading(dir) },
      { name: 'hot', title: 'one GET of 200 KB from memory', env: {}, ...reads },
      { name: 'cold', title: 'one GET of 200 KB from a file', env: { HOT_SET_BYTES: '0' }, ...reads },
      { name: 's3', title: 'one GET of 200 KB from S3', env: await services.env('profile'), ...reads },
    ]
    for (const each of cases) {
      console.error(`  ${each.title}`)
      times.set(each.title, await profileOf(each, path.join(dir, each.name), seconds))
    }
    await services.empty('profile')
    return { table: tableOf(times) }
  } finally {
    await services.stop()
  }
}

async function profileOf({ env, load }: Case, dir: string, seconds: number): Promise<Map<string, number>> {
  const profilePath = path.join(dir, 'server.cpuprofile')
  const hook = path.join(import.meta.dirname, 'profiler.mjs')
  const server = await startPinhole(dir, {
    ...env,
    NODE_OPTIONS: `--import ${hook}`,
    PROFILE_PATH: profilePath,
  })
  try {
    await load(server, WARM_UP_SECONDS)
    process.kill(server.pid, 'SIGUSR2')
    await sleep(PROFILER_START_MS)
    const requests = await load(server, seconds)
    process.kill(server.pid, 'SIGUSR2')
    const times = timeByPart(JSON.parse(await readWhole(profilePath)))
    return new Map([...times].map(([part, time]) => [part, time / requests]))
  } finally {
    await server.stop()
  }
}

/** Microseconds of the main thread per request, by part. */
function tableOf(times: Map<string, Map<string, number>>): string {
  const cases = [...times.values()]
  const rows = PART_NAMES.map((part) => [part, ...cases.map((each) => (each.get(part) ?? 0).toFixed(1))])
  const sums = cases.map((each) =>
    PART_NAMES.reduce((sum, part) => sum + (each.get(part) ?? 0), 0).toFixed(0),
  )
  return table(['µs of the main thread', ...times.keys()], [...rows, ['all of it', ...sums]])
}

async function readOne(server: Child, seconds: number): Promise<number> {
  const picture = await noisePicture(PICTURE_BYTES)
  const id = await upload(server.url, picture)
  const url = `${server.url}/raw/${id}`
  return (await wrk({ url, connections: CONNECTIONS, seconds })).requests
}

function uploading(dir: string): Case['load'] {
  return async (server, seconds) => {
    const script = await uploadsOf(path.join(dir, 'bodies'), await noisePictures(64, PICTURE_BYTES))
    const url = `${server.url}/api/upload`
    return (await wrk({ url, connections: CONNECTIONS, seconds, script })).requests
  }
}

/** Waits until the profile is complete. */
async function readWhole(file: string): Promise<string> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.endsWith('}')) return text
    await sleep(100)
  }
}
