/** Preload for a server (`--import`): raises the timeout of views from S3 to a minute, enough for a busy machine. */
import { RETRY_POLICY } from '../../../src/stores/s3/client.ts'

RETRY_POLICY.viewMs = 60_000
