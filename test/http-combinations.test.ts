/** The HTTP contract on the two combinations that mix one machine's parts with many machines'. */
import { after, before, describe } from 'node:test'
import { httpContract, type Part } from './contracts/http.ts'
import type { Host } from './contracts/http-host.ts'
import { s3Env, serviceOf } from './support/cluster.ts'
import { type FakeS3, startFakeS3 } from './support/fake-s3.ts'
import { type PostgresServer, startPostgres } from './support/postgres.ts'
import type { Env } from './support/process.ts'
import { startServer } from './support/server.ts'

/** CI runs everything on these too. Elsewhere that would double the time of `npm test` and say little. */
const IN_CI = process.env.PINHOLE_CI !== undefined

/** No store and no ledger has a say in these. `http.test.ts` and `http-cluster.test.ts` run everything. */
const NEITHER: Part[] = [
  'the form of an upload',
  'broken forms',
  'browsers and other sites',
  'refusals that come early',
  'methods and paths',
  'the transport',
]
const STORE_ALONE: Part[] = ['raw bytes', 'conditions and ranges', 'what is stored', 'pages']
/** It reads the server's files. What Postgres keeps is read in `cluster.test.ts`. */
const IN_FILES: Part[] = ['what is kept']
const LEDGER_ALONE: Part[] = ['quota and client address', 'the operator']

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
    async (env) => hostOn({ LEDGER_URL: await postgres.createSchema(), ...env }),
    IN_CI ? [] : [...NEITHER, ...STORE_ALONE, ...IN_FILES],
  )
  httpContract(
    'S3 and SQLite',
    (env) => hostOn({ ...s3Env(serviceOf(fake), `host-${++prefixes}`), ...env }),
    IN_CI ? [] : [...NEITHER, ...LEDGER_ALONE],
  )
})

async function hostOn(env: Env): Promise<Host> {
  const server = await startServer(env)
  return {
    url: server.url,
    baseUrl: server.baseUrl,
    clientHeader: 'X-Forwarded-For',
    direct: true,
    dataDir: server.dataDir,
    logs: () => server.stdout() + server.stderr(),
    operator: (words) => server.operator(words),
    stop: () => server.stop(),
  }
}
