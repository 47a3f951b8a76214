/** Stands in for `weed mini -bucket=NAME …`: the tests' S3 server, on SeaweedFS' port. */
import { env } from 'node:process'
import { startFakeS3 } from '../../support/s3/fake-s3.ts'

const bucket = process.argv.find((word) => word.startsWith('-bucket='))?.slice('-bucket='.length)
await startFakeS3({
  bucket,
  accessKeyId: env.AWS_ACCESS_KEY_ID,
  secretAccessKey: env.AWS_SECRET_ACCESS_KEY,
  host: '0.0.0.0',
  port: 8333,
})
process.on('SIGTERM', () => process.exit())
