/** What the operator's kit costs: our server as it starts by itself against the same one with the kit off, in turns. */
import path from 'node:path'
import type { Child } from '../contestants/child.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { upload, writeBodies } from '../load/multipart.ts'
import type { BenchOptions } from '../load/options.ts'
import { noisePictures } from '../load/pictures.ts'
import { MEDIUM, SMALL } from '../load/sizes.ts'
import { inTurns } from '../load/turns.ts'
import { wrk } from '../load/wrk.ts'
import type { Comparison, Figures } from '../report/figures.ts'

const SIZES = [SMALL, MEDIUM]
const GET_CONNECTIONS = 32
const UPLOAD_CONNECTIONS = 64
const PICTURES = 256
const WARM_UP_SECONDS = 2
/** The kit may cost so much. */
const AT_LEAST = 0.97

/** No door, no links of uploads; caps and notices are off by themselves. */
const OFF = { OPERATOR_LISTEN: 'off', UPLOADER_LINKS: 'off' }

export async function benchKit({ dir, rounds, seconds }: BenchOptions): Promise<Figures> {
  const env = { TRUSTED_PROXIES: '127.0.0.1/32', UPLOADS_PER_DAY: '1000000000' }
  const bodies = await writeBodies(path.join(dir, 'bodies'), await noisePictures(PICTURES, 204_800))
  const on = await startPinhole(path.join(dir, 'on'), env)
  const off = await startPinhole(path.join(dir, 'off'), { ...env, ...OFF })
  try {
    const comparisons: Comparison[] = []
    const compare = async (what: string, unit: string, measure: (server: Child) => Promise<number>) => {
      console.error(`  ${what}`)
      const contestants = Object.entries({ on, off }).map(([name, server]) => ({
        name,
        measure: () => measure(server),
      }))
      const values = await inTurns(contestants, rounds)
      comparisons.push({
        what,
        reference: 'kit off',
        subjectValues: values.get('on')!,
        referenceValues: values.get('off')!,
        unit,
        atLeast: AT_LEAST,
      })
    }
    for (const { name, bytes } of SIZES) {
      const [picture] = await noisePictures(1, bytes)
      const paths = new Map<Child, string>()
      for (const server of [on, off]) {
        paths.set(server, `/raw/${await upload(server.url, new Uint8Array(picture!))}`)
      }
      const load = async (server: Child, duration: number) =>
        (await wrk({ url: server.url + paths.get(server), connections: GET_CONNECTIONS, seconds: duration }))
          .requestsPerSecond
      for (const server of [on, off]) await load(server, WARM_UP_SECONDS)
      await compare(`GET ${name}`, 'req/s', (server) => load(server, seconds))
    }
    const send = async (server: Child, duration: number) => {
      const script = { path: path.join(import.meta.dirname, '../load/upload.lua'), args: bodies }
      const url = `${server.url}/api/upload`
      return (await wrk({ url, connections: UPLOAD_CONNECTIONS, seconds: duration, script }))
        .requestsPerSecond
    }
    for (const server of [on, off]) await send(server, WARM_UP_SECONDS)
    await compare('upload 200 KB', 'uploads/s', (server) => send(server, seconds))
    return { comparisons, measures: [] }
  } finally {
    await on.stop()
    await off.stop()
  }
}
