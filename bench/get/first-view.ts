/** The first view of an image after its upload, against a view of an image that has long been in memory. */
import { Agent } from 'node:http'
import path from 'node:path'
import { startPinhole } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import { LARGE, MEDIUM, noisePictures, SMALL } from '../load/pictures.ts'
import { timedGet } from '../load/timed-get.ts'
import type { BenchOptions, Comparison, Figures } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'

const SIZES = [SMALL, MEDIUM, LARGE]
const PICTURES = 20
const MAX_RATIO = 1.2

export async function benchFirstView({ dir, rounds }: BenchOptions): Promise<Figures> {
  const server = await startPinhole(path.join(dir, 'pinhole'), { UPLOADS_PER_DAY: '1000000' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const comparisons: Comparison[] = []
  try {
    for (const { name, bytes } of SIZES) {
      const pictures = await noisePictures(PICTURES, bytes)
      const first: number[] = []
      const hot: number[] = []
      const known = `${server.url}/raw/${await upload(server.url, pictures[0]!)}`
      for (let view = 0; view < 100; view++) await timedGet(known, agent)
      for (let turn = 0; turn < rounds * PICTURES; turn++) {
        const picture = pictures[turn % PICTURES]!
        // Both follow an upload, on a warm connection.
        for (const isFirst of turn % 2 === 0 ? [true, false] : [false, true]) {
          const id = await upload(server.url, picture)
          await timedGet(`${server.url}/healthz`, agent)
          const time = (await timedGet(isFirst ? `${server.url}/raw/${id}` : known, agent)).whole
          if (isFirst) first.push(time)
          else hot.push(time)
        }
      }
      comparisons.push({
        label: `first view of ${name}`,
        reference: 'of a hot image',
        subjectValues: [summarize(first).median],
        referenceValues: [summarize(hot).median],
        unit: 'ms',
        atMost: MAX_RATIO,
      })
    }
    return { comparisons }
  } finally {
    agent.destroy()
    await server.stop()
  }
}
