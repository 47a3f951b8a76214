/** The HTTP contract on workerd, over a real socket. */
import type { Host } from '../contracts/http/host.ts'
import { httpContract } from '../contracts/http.ts'
import { type Env, run } from '../support/processes/process.ts'
import { startWorker } from '../support/worker/worker-host.ts'

const OPERATOR = {
  OPERATOR_URL: 'http://localhost:PORT',
  OPERATOR_TOKEN: 'a-token-of-more-than-24-characters',
}

/** The simulators of R2 and D1 share one thread with the Worker, which closes a connection unread after 15 s. */
const AT_ONCE = 2

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
      const door = worker.url.replace('127.0.0.1', 'localhost')
      return run(['src/node/operator.ts', '--server', door, ...words], OPERATOR)
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

httpContract('Workers, R2 and D1', host, { atOnce: AT_ONCE })
