/** The storage parts of the HTTP contract, on the two combinations of a local and a shared backend. */
import { after, before, describe } from 'node:test'
import type { Host } from './contracts/http/host.ts'
import { httpContract, OF_STORES } from './contracts/http.ts'
import { breakLedger } from './support/processes/broken-ledger.ts'
import { s3Env } from './support/processes/cluster.ts'
import { linksTo } from './support/processes/links.ts'
import { ownHost } from './support/processes/own-host.ts'
import { type PostgresServer, startPostgres } from './support/processes/postgres.ts'
import type { Env } from './support/processes/process.ts'
import { startServer } from './support/processes/server.ts'
import { type FakeS3, startFakeS3 } from './support/s3/fake-s3.ts'

let postgres: PostgresServer
let fake: FakeS3
let prefixes = 0
before(async () => {
  ;[postgres, fake] = await Promise.all([startPostgres(), startFakeS3()])
})
after(() => Promise.all([postgres?.destroy(), fake?.close()]))

describe('combinations', { concurrency: 2 }, () => {
  httpContract(
    'filesystem and Postgres',
    async (env = {}) => hostOn({ LEDGER_URL: await postgres.createSchema() }, env),
    { parts: OF_STORES },
  )
  httpContract('S3 and SQLite', (env = {}) => hostOn(s3Env(fake, `host-${++prefixes}`), env), {
    parts: OF_STORES,
  })
})

/** `place`: settings of its remote backend. */
async function hostOn(place: Env, env: Env): Promise<Host> {
  const links = await linksTo(place, env)
  const server = await startServer({ ...env, ...links.place })
  return {
    ...ownHost(server),
    async breakDown() {
      await links.cut()
      if (place.LEDGER_URL === undefined) await breakLedger(server.dataDir)
    },
    async stop() {
      await server.stop().finally(links.cut)
    },
  }
}
