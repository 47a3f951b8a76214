/** What holds over several servers on one S3 store and one Postgres, and when one of these is not there. */
import { after, before } from 'node:test'
import { absentLedgerCases } from './absent-ledger.ts'
import { absentStoreCases } from './absent-store.ts'
import { behindNginxCases } from './behind-nginx.ts'
import { startAll, stopAll } from './servers.ts'
import { severalServersCases } from './several-servers.ts'

before(startAll)
after(stopAll)

severalServersCases()
absentStoreCases()
absentLedgerCases()
// Last: the servers do not come back.
behindNginxCases()
