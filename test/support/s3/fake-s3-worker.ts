/** A fake S3 in a worker thread, for tests that block the main one. Counts requests for images and answers them after 200 ms. */
import { parentPort, workerData } from 'node:worker_threads'
import { startFakeS3 } from './fake-s3.ts'
import { on } from './on-fake.ts'
import type { S3Service } from './under-test.ts'

const requests = workerData as Int32Array
const fake = await startFakeS3()
const [isGet, isHead] = [on('GET'), on('HEAD')]
fake.faults.add(
  { kind: 'delay', ms: 200 },
  {
    times: Infinity,
    on(request) {
      if (!isGet(request) && !isHead(request)) return false
      Atomics.add(requests, 0, 1)
      return true
    },
  },
)
const { endpoint, bucket, accessKeyId, secretAccessKey } = fake
parentPort!.postMessage({ endpoint, bucket, accessKeyId, secretAccessKey } satisfies S3Service)
