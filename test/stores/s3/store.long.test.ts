/** The contract, run against the S3 adapter on a strict fake. */
import { after, before } from 'node:test'
import { harnessOf } from '../../contracts/object-store/harness.ts'
import { interleavingCases } from '../../contracts/object-store/interleaving.ts'
import { objectStoreContract } from '../../contracts/object-store.ts'
import { type FakeS3, startFakeS3 } from '../../support/s3/fake-s3.ts'
import { openS3UnderTest } from '../../support/s3/under-test.ts'

let fake: FakeS3
before(async () => {
  fake = await startFakeS3()
})
after(() => fake.close())

const open = () => openS3UnderTest({ endpoint: fake.endpoint, bucket: fake.bucket, ...fake.keys })
objectStoreContract('s3 on the fake', open)
interleavingCases(harnessOf(open), 1)
