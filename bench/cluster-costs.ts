/** How often an upload asks the object store and the ledger, counted on the wire. */
import { s3Env, serviceOf } from '../test/support/cluster.ts'
import { startFakeS3 } from '../test/support/fake-s3.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { startStatementLog } from '../test/support/statement-log.ts'
import { startPinhole } from './contestants.ts'
import type { Measure } from './figures.ts'
import { upload } from './multipart.ts'
import { noisePictures } from './pictures.ts'

const UPLOADS = 100

export async function uploadCosts(dir: string): Promise<Measure[]> {
  const [fake, postgres] = await Promise.all([startFakeS3(), startPostgres()])
  const schema = new URL(await postgres.createSchema())
  const ledger = await startStatementLog(Number(schema.port))
  schema.port = `${ledger.port}`
  const settings = { LEDGER_URL: schema.href, UPLOADS_PER_DAY: '1000000' }
  const server = await startPinhole(dir, { ...s3Env(serviceOf(fake), 'costs'), ...settings })
  try {
    const pictures = await noisePictures(UPLOADS, 20_000)
    // The first upload of a day asks for the day's salt.
    await upload(server.url, new Uint8Array(pictures[0]))
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
    ]
  } finally {
    await server.stop()
    await ledger.close()
    await Promise.all([fake.close(), postgres.destroy()])
  }
}
