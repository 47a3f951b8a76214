/** Limits on clients below the application. Those that clients notice are listed in docs/limits.md. Tests shorten them. */
export const LIMITS = {
  /** Header lines per request. Browsers send 20, and a few proxies as many more. Apache allows 100. */
  headers: 128,
  /** From the first byte of a request to the end of its headers. nginx waits 60 s. */
  headersMs: 15_000,
  /** Without a byte in either direction while the server waits for the client. Browsers reuse a connection within seconds. */
  idleMs: 30_000,
  /** From the first byte of a request to its last: 25 MB at 44 kB a second. */
  requestMs: 600_000,
  /** Interval between sweeps over all connections. */
  checkMs: 5_000,
  /**
   * Budget for the memory a body holds, integrated over the time spent waiting for its client; past it the body must keep the
   * minimum rate. 300 kB from a phone at 3 kB a second, with a fifth to spare. Unit: bytes × s.
   */
  bodyByteSeconds: 48 * 1024 * 1024,
  /** Memory charged to a body from its start, for its connection and its slot: the size of a draft in memory. */
  bodyBytes: 256 * 1024,
  /**
   * Average rate, for a body past `bodyByteSeconds` and for an answer. A 2 Mbit/s line sends 25 MB in 100 s; the slowest mobile
   * line worth serving does 8 kB a second.
   */
  minBytesPerSecond: 8 * 1024,
  /** Window over which an answer must keep that rate. A step, of a kernel or a chunk, has up to a megabyte: 128 s at that rate. */
  slowAnswerMs: 150_000,
  /**
   * Concurrent uploads being read, per process; the others wait. From half of it on, only the first upload of an address is
   * read; from three quarters on, only the first of a network. 0.2 MB each.
   */
  maxConcurrentReads: 512,
  /** How long an upload may wait unread before it is answered `busy`. Proxies give up after 60 s. */
  waitMs: 30_000,
  /** Waiting uploads per address; more are answered `busy`. More than twice the quota. */
  maxWaitingPerAddress: 256,
  /**
   * Memory of waiting uploads, per process: 8 kB each, and up to 128 KiB of body received with the headers. Past it, uploads
   * of the network that has the most are answered `busy`.
   */
  waitingBytes: 32 * 1024 * 1024,
  /** How much of a refused upload is read, so that the client gets to read the answer. */
  drainBytes: 64 * 1024 * 1024,
  /** How much is read of a body that no route expects. */
  unexpectedBodyBytes: 64 * 1024,
  /** How long a refused body is read: a phone's handover takes seconds. Extended while the body keeps the rate below. */
  drainMs: 20_000,
  /** A slower refused body is abandoned. Unit: bytes a second. */
  minDrainedPerSecond: 64 * 1024,
  /**
   * Pipelined requests per connection that wait for earlier answers; past it the connection is closed. 3 kB each, and 40 µs
   * when the connection is closed. No browser pipelines.
   */
  pipelined: 4,
  /**
   * Concurrent connections per process, including those of trusted proxies: some 10 kB each. Past it a new connection
   * replaces the longest-idle one, or waits while none is idle. Four times nginx's default.
   */
  connections: 4096,
  /** Connections per address that wait, unread, while all of its admitted ones are busy; more are closed. */
  connectionsWaiting: 512,
  /** The same across all addresses; past it the address with the most waiting connections loses one. */
  maxWaitingConnections: 2048,
  /** How long a connection may wait before it is answered `busy`. */
  connectionWaitMs: 30_000,
  /** Minimum age of the last answer before an idle connection may be replaced: a request may be in transit. */
  settleMs: 1000,
  /**
   * Connections to the admin server, per process; a new one past it evicts the least recently used. 2,000 short headers
   * would block the event loop for 0.3 ms.
   */
  adminConnections: 128,
  /** On shutdown: how long idle connections may still carry one more request. Proxies close them after 1 s (`deploy/`). */
  lingerMs: 1500,
  /** On shutdown: how long requests in flight may take. Process managers kill after 30 s or more. */
  stopMs: 30_000,
}

export type Limits = typeof LIMITS
