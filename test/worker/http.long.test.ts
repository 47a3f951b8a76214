/** The HTTP contract on workerd, over a real socket. */
import { httpContract } from '../contracts/http.ts'
import { startWorker } from '../support/worker/worker-host.ts'

httpContract('Workers, R2 and D1', async (env = {}) => {
  const worker = await startWorker(env)
  return {
    url: worker.url,
    baseUrl: worker.baseUrl,
    clientHeader: 'CF-Connecting-IP',
    direct: false,
    isEdge: true,
    logs: worker.logs,
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
})
