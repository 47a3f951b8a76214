/** How long and how slow a client may be. Tests shorten them. */
export interface Limits {
  /** From the first byte of a request to the end of its headers. */
  headersMs: number
  /** Without a byte in either direction. */
  idleMs: number
  /** From the first byte of a request to its last. */
  requestMs: number
  /** How often the two above are looked at. */
  checkMs: number
  /** For so long a body may be as slow as it likes. */
  slowBodyGraceMs: number
  /** Afterwards it must have come at this rate on average. */
  leastBytesPerSecond: number
  /** An answer must be taken at the same rate, over each span of this length. */
  slowAnswerMs: number
  /** What is read of a refused body, so that the client reads the answer. */
  drainBytes: number
  /** The same where no body is expected. */
  unexpectedBodyBytes: number
  drainMs: number
  /** Addresses that send what no client would are shut out for so long. */
  banMs: number
  /** Pipelined requests of a connection that wait for the answers before them. */
  pipelined: number
  /** At a stop, connections that are idle may be used once more for so long. */
  lingerMs: number
  /** What is under way at a stop may take this long. */
  stopMs: number
}

export const LIMITS: Limits = {
  headersMs: 15_000,
  idleMs: 30_000,
  requestMs: 600_000,
  checkMs: 5_000,
  slowBodyGraceMs: 20_000,
  leastBytesPerSecond: 8 * 1024,
  slowAnswerMs: 60_000,
  drainBytes: 64 * 1024 * 1024,
  unexpectedBodyBytes: 64 * 1024,
  drainMs: 20_000,
  banMs: 10_000,
  pipelined: 128,
  lingerMs: 1000,
  stopMs: 30_000,
}
