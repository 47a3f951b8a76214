/** The HTTP contract on workerd. */
import type { Host } from '../contracts/http/host.ts'
import { httpContract } from '../contracts/http.ts'
import { type Env, run } from '../support/processes/process.ts'
import { startWorker } from '../support/worker/worker-host.ts'

const OPERATOR = {
  OPERATOR_URL: 'http://localhost:PORT',
  OPERATOR_TOKEN: 'a-token-of-more-than-24-characters',
}

/** Low, because the R2 and D1 simulators share a thread with the Worker, which closes unread connections after 15 s. */
const CONCURRENCY = 2

async function host(env: Env = {}): Promise<Host> {
  const worker = await startWorker({ ...env, ...OPERATOR })
  return {
    url: worker.url,
    baseUrl: worker.baseUrl,
    clientHeader: 'CF-Connecting-IP',
    direct: false,
    isEdge: true,
    logs: worker.logs,
    operator(words) {
      const operatorUrl = worker.url.replace('127.0.0.1', 'localhost')
      return run(['src/node/operator.ts', '--server', operatorUrl, ...words], OPERATOR)
    },
    async breakDown() {
      const { results } = await worker.database
        .prepare("select name from sqlite_schema where type = 'table'")
        .all()
      for (const { name } of results) {
        if (!/^(_cf|sqlite)_/.test(String(name)))
          await worker.database.batch([worker.database.prepare(`drop table "${name}"`)])
      }
    },
    stop: worker.stop,
  }
}

httpContract('Workers, R2 and D1', host, { atOnce: CONCURRENCY })
