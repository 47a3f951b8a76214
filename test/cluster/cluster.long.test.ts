/** Several servers on one S3 store and one Postgres, including outages of these. */
import './several-servers.ts'
import './store-outages.ts'
import './ledger-outages.ts'
// Last, because it kills the servers.
import './behind-nginx.ts'
