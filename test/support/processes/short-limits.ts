/**
 * Loaded into a server with `--import`: what takes half a minute by its limits takes seconds. A client that is merely on
 * a busy machine sends its headers in time.
 */
import { LIMITS } from '../../../src/node/http/limits.ts'

Object.assign(LIMITS, {
  headersMs: 4000,
  checkMs: 50,
  bodyByteSeconds: 80_000,
  minBytesPerSecond: 1_000_000,
  waitMs: 300,
})
