/** Three processes on S3 and Postgres behind nginx, against one process with a folder and SQLite. */
import path from 'node:path'
import { freePort, startNginx, startNginxFront } from '../../test/support/processes/caches.ts'
import { startPinhole, UNLIMITED } from '../contestants/contestants.ts'
import { type Contestant, interleaved } from '../load/interleaved.ts'
import { upload } from '../load/multipart.ts'
import { MEDIUM, noisePictures, SMALL } from '../load/pictures.ts'
import { readsOf, uploadsOf, wrk } from '../load/wrk.ts'
import { type BenchOptions, type Comparison, comparisonOf, type Figures } from '../report/figures.ts'
import { costs } from './costs.ts'
import { startClusterServices } from './services.ts'

const PROCESSES = 3
const UPLOAD_CONNECTIONS = 64
const READ_CONNECTIONS = 32
const PICTURES = 64
const UPLOAD_BYTES = 204_800
const READ_SIZES = [SMALL, MEDIUM]

interface Subject {
  name: string
  url: string
  /** Prefix of its images in the shared store; `null` when it does not use that. */
  prefix: string | null
}

export async function benchCluster({ dir, rounds, seconds }: BenchOptions): Promise<Figures> {
  const services = await startClusterServices()
  const stops: (() => Promise<void>)[] = [services.stop]
  const start = async (name: string, env: Record<string, string>) => {
    const server = await startPinhole(path.join(dir, name), { ...UNLIMITED, ...env })
    stops.unshift(server.stop)
    return server.url
  }
  try {
    const cachePort = await freePort()
    const shared = {
      ...(await services.env('cluster')),
      CDN_URL: `nginx://127.0.0.1:${cachePort}`,
    }
    const servers = await Promise.all(
      Array.from({ length: PROCESSES }, (_, index) => start(`server-${index}`, shared)),
    )
    const ports = servers.map((url) => Number(new URL(url).port))
    const front = await startNginxFront(await freePort(), ports, [UNLIMITED.TRUSTED_PROXIES])
    stops.unshift(front.stop)
    const cache = await startNginx(cachePort, ports)
    stops.unshift(cache.stop)
    const cluster = {
      name: `${PROCESSES} on ${services.storeName} + Postgres`,
      url: front.url,
      prefix: 'cluster',
    }
    const single = {
      name: `1 on ${services.storeName} + Postgres`,
      url: await start('single', await services.env('single')),
      prefix: 'single',
    }
    const embedded = { name: '1 on a folder + SQLite', url: await start('embedded', {}), prefix: null }
    const cached = { ...cluster, name: `${cluster.name}, nginx with its cache`, url: cache.url }
    const subjects: Subject[] = [cluster, single, embedded]

    const comparisons: Comparison[] = []
    const compare = (
      label: string,
      subject: Subject,
      reference: Subject,
      { unit, values }: { unit: string; values: Map<string, number[]> },
    ) =>
      comparisons.push(
        comparisonOf(values, subject.name, reference.name, { label: `${label}, ${subject.name}`, unit }),
      )

    const pictures = await noisePictures(PICTURES, UPLOAD_BYTES)
    const script = await uploadsOf(path.join(dir, 'bodies'), pictures)
    const uploads = subjects.map((subject): Contestant => {
      const { name, url, prefix } = subject
      return {
        name,
        prepare: async () => {
          if (prefix !== null) await services.empty(prefix)
        },
        measure: async () => {
          const run = { url: `${url}/api/upload`, connections: UPLOAD_CONNECTIONS, seconds, script }
          const { requests, requestsPerSecond } = await wrk(run)
          const stored = prefix === null ? requests : await services.countImages(prefix)
          if (stored < requests) throw new Error(`${name}: ${requests} acknowledged, ${stored} in the store`)
          return requestsPerSecond
        },
      }
    })
    for (const { prepare, measure } of uploads) {
      await measure()
      await prepare?.()
    }
    const uploaded = { unit: 'uploads/s', values: await interleaved(uploads, rounds) }
    compare('upload 200 KB', cluster, embedded, uploaded)
    compare('upload 200 KB', cluster, single, uploaded)

    for (const { name: size, bytes } of READ_SIZES) {
      const some = await noisePictures(PICTURES, bytes)
      const reads = await Promise.all(
        [...subjects, cached].map((subject) => reading(subject, some, { dir, size, seconds })),
      )
      const read = { unit: 'req/s', values: await interleaved(reads, rounds) }
      compare(`GET ${size}`, cluster, embedded, read)
      compare(`GET ${size}`, cluster, single, read)
      compare(`GET ${size}`, cached, embedded, read)
    }
    return { comparisons, measures: await costs(path.join(dir, 'costs')) }
  } finally {
    for (const stop of stops) await stop()
  }
}

async function reading(
  { name, url }: Subject,
  pictures: Buffer[],
  options: { dir: string; size: string; seconds: number },
): Promise<Contestant> {
  const ids: string[] = []
  for (const picture of pictures) ids.push(await upload(url, picture))
  const script = await readsOf(path.join(options.dir, options.size.replace(' ', ''), `${name}.paths`), ids)
  const run = { url, connections: READ_CONNECTIONS, seconds: options.seconds, script }
  return { name, measure: async () => (await wrk(run)).requestsPerSecond }
}
