/** The ledger contract on a simulated D1 database. */
import { after } from 'node:test'
import { ledgerContract } from '../contracts/ledger.ts'
import { startBindings } from '../support/worker/bindings.ts'
import { openD1UnderTest } from '../support/worker/d1-under-test.ts'

const bindings = await startBindings()
after(() => bindings.close())

ledgerContract('D1', () => openD1UnderTest(bindings))
