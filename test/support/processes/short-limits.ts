/**
 * Preload for a server (`--import`): shortens timeouts from half a minute to seconds, but not so much that clients on a busy
 * machine would hit them.
 */
import { LIMITS } from '../../../src/node/http/limits.ts'

Object.assign(LIMITS, {
  headersMs: 4000,
  checkMs: 50,
  bodyByteSeconds: 80_000,
  minBytesPerSecond: 1_000_000,
  waitMs: 300,
})
