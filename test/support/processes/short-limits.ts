/** Loaded into a server with `--import`: what takes half a minute by its limits takes half a second. */
import { LIMITS } from '../../../src/node/http/limits.ts'

Object.assign(LIMITS, { headersMs: 500, checkMs: 50, slowBodyGraceMs: 300, leastBytesPerSecond: 1_000_000 })
