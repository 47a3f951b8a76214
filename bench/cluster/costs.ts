/** What a server on S3 and Postgres spends: requests to the two, counted on the wire, and processor time. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { s3Env, serviceOf } from '../../test/support/processes/cluster.ts'
import { startPostgres } from '../../test/support/processes/postgres.ts'
import { startFakeS3 } from '../../test/support/s3/fake-s3.ts'
import { startStatementLog } from '../../test/support/statement-log.ts'
import type { Child } from '../contestants/child.ts'
import { startPinhole } from '../contestants/contestants.ts'
import { upload, writeBodies } from '../load/multipart.ts'
import { noisePictures } from '../load/pictures.ts'
import { MEDIUM, SMALL } from '../load/sizes.ts'
import { wrk } from '../load/wrk.ts'
import type { Measure } from '../report/figures.ts'

const UPLOADS = 100
const CONNECTIONS = 32
const SECONDS = 3
const SIZES = [SMALL, MEDIUM]

export async function costs(dir: string): Promise<Measure[]> {
  const [fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
  const schema = new URL(await postgres.createSchema())
  const ledger = await startStatementLog(Number(schema.port))
  schema.port = `${ledger.port}`
  const settings = {
    LEDGER_URL: schema.href,
    UPLOADS_PER_DAY: '1000000000',
    TRUSTED_PROXIES: '127.0.0.1/32',
  }
  const server = await startPinhole(dir, { ...s3Env(serviceOf(fake), 'costs'), ...settings })
  try {
    const pictures = await noisePictures(UPLOADS, 20_000)
    // The first upload of a day asks for the day's salt.
    await upload(server.url, new Uint8Array(pictures[0]!))
    fake.requests.length = 0
    ledger.clear()
    for (const picture of pictures) await upload(server.url, new Uint8Array(picture))
    const puts = fake.requests.filter(({ method }) => method === 'PUT').length
    const each = (count: number) => [count / UPLOADS]
    return [
      { what: 'puts an upload (at most 1)', values: each(puts), unit: '' },
      { what: 'other requests to the store an upload', values: each(fake.requests.length - puts), unit: '' },
      { what: 'statements an upload (at most 2)', values: each(ledger.statements.length), unit: '' },
      { what: 'round trips to Postgres an upload', values: each(ledger.roundTrips()), unit: '' },
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
  const measure = async (what: string, run: { url: string; script?: { path: string; args: string[] } }) => {
    const times: number[] = []
    // The first run warms up.
    for (let turn = 0; turn < 3; turn++) {
      const before = processorMs(server.pid)
      const { requests } = await wrk({ ...run, connections: CONNECTIONS, seconds: SECONDS })
      if (turn > 0) times.push((processorMs(server.pid) - before) / requests)
    }
    measures.push({ what: `processor time of the server, ${what}`, values: times, unit: 'ms' })
  }
  for (const { name, bytes } of SIZES) {
    const pictures = await noisePictures(32, bytes)
    const bodies = await writeBodies(path.join(dir, name), pictures)
    const script = { path: path.join(import.meta.dirname, '../load/upload.lua'), args: bodies }
    await measure(`an upload of ${name}`, { url: `${server.url}/api/upload`, script })
    const ids: string[] = []
    for (const picture of pictures) ids.push(await upload(server.url, new Uint8Array(picture)))
    const list = path.join(dir, `${name}.paths`)
    await writeFile(list, ids.map((id) => `/raw/${id}\n`).join(''))
    const paths = { path: path.join(import.meta.dirname, '../load/paths.lua'), args: [list] }
    await measure(`a GET of ${name}`, { url: server.url, script: paths })
  }
  return measures
}

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Spent by a process so far, in user and kernel mode (proc(5), stat: fields 14 and 15). */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000
}
