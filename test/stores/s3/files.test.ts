import { randomUUID } from 'node:crypto'
import { openS3Files } from '../../../src/stores/s3/store.ts'
import { filesContract } from '../../contracts/files.ts'
import { onFake, QUICK } from '../../support/s3/on-fake.ts'

const { service } = onFake()

filesContract('S3', async () => {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = service()
  const url = `s3://${bucket}/${randomUUID()}?endpoint=${encodeURIComponent(endpoint)}`
  const open = () => openS3Files({ url, folder: '', accessKeyId, secretAccessKey, retryPolicy: QUICK })
  const files = open()
  return { files, reopen: open, close: () => files.close() }
})
