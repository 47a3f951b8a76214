/** The object store contract on a simulated R2 bucket. */
import { after } from 'node:test'
import { objectStoreContract } from '../contracts/object-store.ts'
import { startBindings } from '../support/worker/bindings.ts'
import { openR2UnderTest } from '../support/worker/r2-under-test.ts'

const bindings = await startBindings()
after(() => bindings.close())

objectStoreContract('R2', async () => openR2UnderTest(bindings.bucket), {
  modelRuns: 5,
  draftsInMemory: true,
})
