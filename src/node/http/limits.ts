/** What a client may cost below the web layer. docs/limits.md has those that clients notice. Tests shorten them. */
export const LIMITS = {
  /** Headers of a request. Browsers send 20, and a few proxies as many more. Apache takes 100. */
  headers: 128,
  /** From the first byte of a request to the end of its headers. nginx waits 60 s. */
  headersMs: 15_000,
  /** Without a byte in either direction while the server waits for the client. Browsers reuse a connection within seconds. */
  idleMs: 30_000,
  /** From the first byte of a request to its last: 25 MB at 44 kB a second. */
  requestMs: 600_000,
  /** Between two sweeps over all connections: a twelfth of `slowAnswerMs`. */
  checkMs: 5_000,
  /**
   * What a body holds, integrated over the time its client is waited for; past it the body must keep the least rate.
   * 300 kB from a phone at 3 kB a second, with a fifth to spare. Unit: bytes × s.
   */
  bodyByteSeconds: 48 * 1024 * 1024,
  /** What a body counts as holding from its start, for its connection and its place: that of a draft in memory. */
  bodyBytes: 256 * 1024,
  /**
   * On average, for a body past `bodyByteSeconds` and for an answer. A 2 Mbit/s line sends 25 MB in 100 s; the slowest
   * mobile line worth serving does 8 kB a second.
   */
  minBytesPerSecond: 8 * 1024,
  /** The window over which an answer must keep that rate: kernels take answers in steps of up to a megabyte. */
  slowAnswerMs: 60_000,
  /**
   * Uploads read at once, per process; the others wait. From half of it on only the first of an address is read, from
   * three quarters on only the first of a network. 0.2 MB each.
   */
  uploadsRead: 512,
  /** For an upload that waits unread; past it `busy`. Proxies give up after 60 s. */
  waitMs: 30_000,
  /** Uploads of one address that wait; past it `busy`. More than twice the quota. */
  waitingOfAddress: 256,
  /**
   * Memory of uploads that wait, per process: 8 kB each, and up to 128 KiB of body that came behind the headers. Past it
   * the network with the most of them is answered `busy`.
   */
  waitingBytes: 32 * 1024 * 1024,
  /** Read of a refused upload, so that the client reads the answer. */
  drainBytes: 64 * 1024 * 1024,
  /** Read of a body that no route asked for. */
  unexpectedBodyBytes: 64 * 1024,
  /** For reading a refused body: a handover of a phone takes seconds. Longer for one that comes at the rate below. */
  drainMs: 20_000,
  /** A refused body that comes slower is given up. Unit: bytes a second. */
  minDrainedPerSecond: 64 * 1024,
  /**
   * Requests on a connection that wait for the answers before them; past it the connection is closed. 3 kB each, and
   * 40 µs when it is closed. No browser pipelines.
   */
  pipelined: 4,
  /**
   * Connections at once, per process, those of trusted proxies too: some 10 kB each. One more replaces the one that was
   * idle longest, and waits while none is idle. Four times nginx's default.
   */
  connections: 4096,
  /** Connections of one address that wait, unread, while all that it may have are busy; one more is closed. */
  connectionsWaiting: 512,
  /** The same of all addresses; past it the address with the most of them loses one. */
  connectionsWaitingOfAll: 2048,
  /** For a connection that waits; past it `busy`. */
  connectionWaitMs: 30_000,
  /** Since its last answer, before an idle connection is replaced by another: a request may be on its way. */
  settleMs: 1000,
  /**
   * Connections on the admin server, per process; one more replaces the one whose last request is longest ago. 2,000
   * short headers would block the event loop for 0.3 ms.
   */
  adminConnections: 128,
  /** When the server stops: how long idle connections may be used once more. Proxies close them after 1 s (`deploy/`). */
  lingerMs: 1500,
  /** When the server stops: for requests under way. Process managers kill after 30 s or more. */
  stopMs: 30_000,
}

export type Limits = typeof LIMITS
