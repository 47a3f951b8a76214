/** The S3 adapter on a strict fake: the contract, in both styles of address. */
import { after, before } from 'node:test'
import { objectStoreContract } from '../contracts/object-store.ts'
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts'
import { loopbackFetch } from '../support/loopback-fetch.ts'
import { openS3UnderTest, type S3Service } from '../support/s3-under-test.ts'

let fake: FakeS3

before(async () => {
  fake = await startFakeS3()
})
after(() => fake.close())

const service = (): S3Service => ({ endpoint: fake.endpoint, bucket: fake.bucket, ...fake.keys })

objectStoreContract('s3 on the fake, path style', () => openS3UnderTest(service()))

objectStoreContract('s3 on the fake, virtual-host style', () =>
  openS3UnderTest(
    { ...service(), endpoint: `http://s3.test:${fake.port}`, plainEndpoint: fake.endpoint },
    { style: 'virtual', fetch: loopbackFetch(fake.port) },
  ),
)
