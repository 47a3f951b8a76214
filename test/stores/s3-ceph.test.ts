/** The S3 adapter on a real Ceph Object Gateway: `npm run services -- start` starts one. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { readServices } from '../../scripts/services-state.ts'
import { objectStoreContract } from '../contracts/object-store.ts'
import { openS3UnderTest, plainRequests, type S3Service } from '../support/s3-under-test.ts'

const services = await readServices()

if (services === null) {
  test('Ceph', (t) => {
    // In CI a service that is not there is a failure.
    assert.equal(process.env.PINHOLE_CI, undefined, 'no S3 server runs: npm run services -- start')
    t.skip('no S3 server runs: npm run services -- start')
  })
} else {
  const service: S3Service = {
    endpoint: services.endpoint,
    bucket: `pinhole-${process.pid}`,
    accessKeyId: services.accessKeyId,
    secretAccessKey: services.secretAccessKey,
  }
  before(() => plainRequests(service).createBucket(service.bucket))

  objectStoreContract('s3 on Ceph', () => openS3UnderTest(service), { modelRuns: 5 })
}
