/** The contract, by the ledger in a simulated D1 database. */
import { after, before } from 'node:test'
import { ledgerContract } from '../contracts/ledger.ts'
import { type Bindings, startBindings } from '../support/worker/bindings.ts'
import { openD1UnderTest } from '../support/worker/d1-under-test.ts'

let bindings: Bindings
before(async () => {
  bindings = await startBindings()
})
after(() => bindings?.close())

ledgerContract('D1', () => openD1UnderTest(bindings), { modelRuns: 5 })
