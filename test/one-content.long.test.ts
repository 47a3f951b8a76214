/** An ID never serves two different contents, on S3 and Postgres. */
import { after, test } from 'node:test'
import { oneContent } from './support/one-content.ts'
import { startBackends } from './support/processes/cluster.ts'

const backends = await startBackends({ ceph: false })
after(() => backends.stop())

test('an ID never serves two different contents, on S3 and Postgres', () =>
  oneContent(10, () => backends.place()))
