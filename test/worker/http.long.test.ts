/** The HTTP contract on workerd. */
import type { Host } from '../contracts/http/host.ts'
import { httpContract } from '../contracts/http.ts'
import { type Env, run } from '../support/processes/process.ts'
import { tablesOf } from '../support/worker/d1-under-test.ts'
import { LOCAL_OPERATOR, startWorker } from '../support/worker/worker-host.ts'

const OPERATOR = {
  OPERATOR_URL: LOCAL_OPERATOR,
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
    operator: (words) => run(['src/node/operator.ts', '--server', worker.operatorUrl, ...words], OPERATOR),
    async breakDown() {
      for (const name of await tablesOf(worker.database))
        await worker.database.batch([worker.database.prepare(`drop table "${name}"`)])
    },
    stop: worker.stop,
  }
}

httpContract('Workers, R2 and D1', host, { atOnce: CONCURRENCY })
