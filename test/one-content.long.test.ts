/** No id ever shows two contents, whatever is done: on S3 and Postgres. */
import { after, before, test } from 'node:test'
import { oneContent } from './support/one-content.ts'
import { type Backends, startBackends } from './support/processes/cluster.ts'

let backends: Backends
before(async () => {
  backends = await startBackends({ ceph: false })
})
after(() => backends?.stop())

test('no id ever shows two contents, whatever is done, on S3 and Postgres', () =>
  oneContent(10, () => backends.place()))
