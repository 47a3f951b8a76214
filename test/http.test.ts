import { httpContract } from './contracts/http.ts'
import { breakLedger } from './support/processes/broken-ledger.ts'
import { ownHost } from './support/processes/own-host.ts'
import { startServer } from './support/processes/server.ts'

httpContract('Node, filesystem and SQLite', async (env) => {
  const server = await startServer(env)
  return {
    ...ownHost(server),
    breakDown: () => breakLedger(server.dataDir),
    stop: () => server.stop(),
  }
})
