/** Outages of the S3 store and the Postgres ledger that several servers share. */
import './store-outages.ts'
import './ledger-outages.ts'
// Last, because it kills the servers.
import './behind-nginx.ts'
