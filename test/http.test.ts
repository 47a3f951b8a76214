import { httpContract } from './contracts/http.ts'
import { breakLedger } from './support/processes/broken-ledger.ts'
import { startServer } from './support/processes/server.ts'

httpContract('Node, filesystem and SQLite', async (env) => {
  const server = await startServer(env)
  return {
    url: server.url,
    baseUrl: server.baseUrl,
    clientHeader: 'X-Forwarded-For',
    direct: true,
    dataDir: server.dataDir,
    logs: () => server.stdout() + server.stderr(),
    operator: (words) => server.operator(words),
    breakDown: () => breakLedger(server.dataDir),
    stop: () => server.stop(),
  }
})
