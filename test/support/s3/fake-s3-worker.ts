/** A fake S3 in a thread of its own, for a test that blocks its own. It notes each look at an image, and answers 200 ms later. */
import { parentPort, workerData } from 'node:worker_threads'
import { startFakeS3 } from './fake-s3.ts'
import { on } from './on-fake.ts'
import type { S3Service } from './under-test.ts'

const heard = workerData as Int32Array
const fake = await startFakeS3()
for (const method of ['GET', 'HEAD']) {
  const isLook = on(method)
  fake.faults.add(
    { kind: 'delay', ms: 200 },
    { times: Infinity, on: (request) => isLook(request) && Atomics.add(heard, 0, 1) >= 0 },
  )
}
const service: S3Service = { endpoint: fake.endpoint, bucket: fake.bucket, ...fake.keys }
parentPort!.postMessage(service)
