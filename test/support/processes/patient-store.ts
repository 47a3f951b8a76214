/** Loaded into a server with `--import`: a view waits for its store as long as an upload does. A busy machine is no store that hangs. */
import { RETRY_POLICY } from '../../../src/stores/s3/client.ts'

RETRY_POLICY.viewMs = 60_000
