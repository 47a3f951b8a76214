/** The cost of a server on S3 and Postgres: requests to both, counted on the wire, and CPU time. */
import path from 'node:path'
import { s3Env } from '../../test/support/processes/cluster.ts'
import { startPostgres } from '../../test/support/processes/postgres.ts'
import { startFakeS3 } from '../../test/support/s3/fake-s3.ts'
import { startStatementLog } from '../../test/support/statement-log.ts'
import type { Child } from '../contestants/child.ts'
import { startPinhole, UNLIMITED } from '../contestants/contestants.ts'
import { upload } from '../load/multipart.ts'
import { MEDIUM, noisePictures } from '../load/pictures.ts'
import { processorTime } from '../load/processors.ts'
import { readsOf, uploadsOf, type WrkRun, wrk } from '../load/wrk.ts'
import type { Measure } from '../report/figures.ts'

const UPLOADS = 100
const CONNECTIONS = 32
const SECONDS = 3

export async function costs(dir: string): Promise<Measure[]> {
  const [fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
  const schema = new URL(await postgres.createSchema())
  const ledger = await startStatementLog(Number(schema.port))
  schema.port = `${ledger.port}`
  const env = { ...UNLIMITED, ...s3Env(fake, 'costs'), LEDGER_URL: schema.href }
  const server = await startPinhole(dir, env)
  try {
    const pictures = await noisePictures(UPLOADS, 20_000)
    // The first upload of a day also queries the day's salt.
    await upload(server.url, pictures[0]!)
    fake.requests.length = 0
    ledger.clear()
    for (const picture of pictures) await upload(server.url, picture)
    const puts = fake.requests.filter(({ method }) => method === 'PUT').length
    const each = (count: number) => [count / UPLOADS]
    return [
      { label: 'puts an upload (at most 1)', values: each(puts), unit: '' },
      {
        label: 'statements an upload (2 before its answer)',
        values: each(ledger.statements.length),
        unit: '',
      },
      ...(await processorTimes(server, dir)),
    ]
  } finally {
    await server.stop()
    await ledger.close()
    await Promise.all([fake.close(), postgres.destroy()])
  }
}

async function processorTimes(server: Child, dir: string): Promise<Measure[]> {
  const measures: Measure[] = []
  const measure = async (label: string, run: Pick<WrkRun, 'url' | 'script'>) => {
    const times: number[] = []
    // The first run warms up.
    for (let turn = 0; turn < 3; turn++) {
      const before = processorTime(server.pid)
      const { requests } = await wrk({ ...run, connections: CONNECTIONS, seconds: SECONDS })
      if (turn > 0) times.push((processorTime(server.pid) - before) / 1000 / requests)
    }
    measures.push({ label: `processor time of the server, ${label}`, values: times, unit: 'ms' })
  }
  const pictures = await noisePictures(32, MEDIUM.bytes)
  const uploads = await uploadsOf(path.join(dir, 'bodies'), pictures)
  await measure(`an upload of ${MEDIUM.name}`, { url: `${server.url}/api/upload`, script: uploads })
  const ids: string[] = []
  for (const picture of pictures) ids.push(await upload(server.url, picture))
  const reads = await readsOf(path.join(dir, 'ids.paths'), ids)
  await measure(`a GET of ${MEDIUM.name}`, { url: server.url, script: reads })
  return measures
}
