/** The contract, by the R2 adapter on a simulated bucket. */
import { after, before } from 'node:test'
import { objectStoreContract } from '../contracts/object-store.ts'
import { type Bindings, startBindings } from '../support/worker/bindings.ts'
import { openR2UnderTest } from '../support/worker/r2-under-test.ts'

let bindings: Bindings
before(async () => {
  bindings = await startBindings()
})
after(() => bindings?.close())

objectStoreContract('R2', async () => openR2UnderTest(bindings.bucket), {
  modelRuns: 5,
  draftsInMemory: true,
})
