/** Loaded into a server with `--import`: views from S3 time out after a minute, which no loaded machine reaches. */
import { RETRY_POLICY } from '../../../src/stores/s3/client.ts'

RETRY_POLICY.viewMs = 60_000
