/** GET /raw/<id> against nginx, bare `node:http` and Hono, over the same bytes with the same headers. */
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Child } from '../contestants/child.ts'
import { startNginx, startPinhole, startReference } from '../contestants/contestants.ts'
import { sharedHeaders } from '../contestants/shared-headers.ts'
import { interleaved } from '../load/interleaved.ts'
import { upload } from '../load/multipart.ts'
import type { BenchOptions } from '../load/options.ts'
import { noisePictures } from '../load/pictures.ts'
import { bind, GENERATOR_CORE, SERVER_CORE } from '../load/processors.ts'
import { LARGE, MEDIUM, SMALL } from '../load/sizes.ts'
import { wrk } from '../load/wrk.ts'
import type { Comparison, Figures } from '../report/figures.ts'

const CONNECTIONS = 32
const SIZES = [
  { ...SMALL, atLeast: 0.8 },
  { ...MEDIUM, atLeast: 1 },
  { ...LARGE, atLeast: 1 },
]

export async function benchGet({ dir, rounds, seconds }: BenchOptions): Promise<Figures> {
  const files = path.join(dir, 'files')
  await mkdir(files, { recursive: true })
  const pinhole = await startPinhole(path.join(dir, 'pinhole'))
  const children: Child[] = [pinhole]
  try {
    let headers: [string, string][] = []
    const paths: { ours: string; theirs: string }[] = []
    for (const { bytes } of SIZES) {
      const [picture] = await noisePictures(1, bytes)
      const id = await upload(pinhole.url, new Uint8Array(picture!))
      const response = await fetch(`${pinhole.url}/raw/${id}`)
      headers = sharedHeaders(response)
      await writeFile(path.join(files, `${id}.jpg`), await response.bytes())
      paths.push({ ours: `/raw/${id}`, theirs: `/raw/${id}.jpg` })
    }
    const headersPath = path.join(dir, 'headers.json')
    await writeFile(headersPath, JSON.stringify(headers))
    const nginx = await startNginx(dir, headers)
    children.push(nginx)
    const plain = await startReference('plain-get', dir, [files, headersPath])
    children.push(plain)
    const hono = await startReference('hono-get', dir, [files, headersPath])
    children.push(hono)

    const comparisons: Comparison[] = []
    for (const isPinned of [false, true]) {
      const all = `0-${availableParallelism() - 1}`
      for (const { pid } of children) bind(pid, isPinned ? `${SERVER_CORE}` : all)
      for (const [index, { name, atLeast }] of SIZES.entries()) {
        const what = `GET ${name}${isPinned ? ', a core each' : ''}`
        console.error(`  ${what}`)
        const { ours, theirs } = paths[index]!
        const core = isPinned ? GENERATOR_CORE : undefined
        const contestant = (as: string, url: string) => ({
          name: as,
          measure: async () =>
            (await wrk({ url, connections: CONNECTIONS, seconds, core })).requestsPerSecond,
        })
        const values = await interleaved(
          [
            contestant('nginx', nginx.url + theirs),
            contestant('pinhole', pinhole.url + ours),
            contestant('node:http', plain.url + theirs),
            contestant('hono', hono.url + theirs),
          ],
          rounds,
        )
        const compare = (reference: string, demanded?: number) =>
          comparisons.push({
            what,
            reference,
            subjectValues: values.get('pinhole')!,
            referenceValues: values.get(reference)!,
            unit: 'req/s',
            atLeast: demanded,
          })
        // With a core for each of its workers and for us; pinned, both have one.
        compare('nginx', isPinned ? undefined : atLeast)
        compare('node:http', 0.95)
        compare('hono')
      }
    }
    return { comparisons, measures: [] }
  } finally {
    for (const child of children) await child.stop()
  }
}
