/** Several servers on one S3 store and one Postgres, including outages of these. */
import { after, before } from 'node:test'
import { behindNginxCases } from './behind-nginx.ts'
import { ledgerOutageCases } from './ledger-outages.ts'
import { startAll, stopAll } from './servers.ts'
import { severalServersCases } from './several-servers.ts'
import { storeOutageCases } from './store-outages.ts'

before(startAll)
after(stopAll)

severalServersCases()
storeOutageCases()
ledgerOutageCases()
// Last, because it kills the servers.
behindNginxCases()
