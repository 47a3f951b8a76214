/** How long, how slow and how much a client may be, below the web layer. `limits-page.ts` makes docs/limits.md of it. */

/** In the code alone. Tests shorten them. */
export interface Limit {
  figure: number
  unit: 'ms' | 'bytes' | 'bytes a second' | 'bytes × s' | 'requests' | 'connections' | 'uploads'
  /** What it is a limit of. */
  of: string
  /** What it protects. */
  protects: string
  /** Where the figure comes from. */
  source: string
}

const SLOW = 'connections and memory, from clients that take their time'
const FACTS =
  'a 2 Mbit/s line sends 25 MB in 100 s; the slowest mobile one that is worth serving does 8 KB a second'

export const LIMIT_TABLE = {
  headersMs: limit(
    15_000,
    'ms',
    'from the first byte of a request to the end of its headers',
    SLOW,
    'nginx waits 60 s; headers fit in a packet or two',
  ),
  idleMs: limit(
    30_000,
    'ms',
    'without a byte in either direction while the client is waited for',
    SLOW,
    'browsers reuse a connection within seconds',
  ),
  requestMs: limit(
    600_000,
    'ms',
    'from the first byte of a request to its last',
    SLOW,
    '25 MB at 44 KB a second; less is let through within the least rate',
  ),
  checkMs: limit(
    5_000,
    'ms',
    'between two sweeps over all connections',
    'the processor, from the sweeps',
    'a twelfth of the time over which an answer must keep the least rate',
  ),
  bodyByteSeconds: limit(
    48 * 1024 * 1024,
    'bytes × s',
    'that a body may hold, over the time for which its client is waited for; past it, it must keep the least rate',
    'memory, the disk, and places for uploads',
    '300 KB from a phone at 3 KB a second, with a fifth to spare',
  ),
  bodyBytes: limit(
    256 * 1024,
    'bytes',
    'that a body counts as holding from its start, for its connection and its place, besides what came of it',
    'connections, from bodies that hardly come: they may take three minutes',
    'a draft in memory',
  ),
  leastBytesPerSecond: limit(
    8 * 1024,
    'bytes a second',
    'on average, of a body past what it may hold and of an answer that is taken',
    SLOW,
    FACTS,
  ),
  slowAnswerMs: limit(
    60_000,
    'ms',
    'over which an answer must keep the least rate',
    'images in memory, open files',
    'kernels take answers in steps of up to a megabyte',
  ),
  uploadsRead: limit(
    512,
    'uploads',
    'that are read at once, of all addresses, in each process; from half of it on only the first of an address, from three quarters on only the first of a network; the others wait',
    'memory: 0.2 MB each; the disk; turns, from a few hundred addresses that are slow',
    'a thousandth of a second is enough for most uploads',
  ),
  waitMs: limit(
    30_000,
    'ms',
    'for which an upload waits unread for its turn; past it `busy`',
    'clients, from a wait without end',
    'proxies give up after 60 s',
  ),
  waitingOfAddress: limit(
    256,
    'uploads',
    'of an address that wait; past it `busy`',
    'memory and descriptors',
    'more than twice the quota',
  ),
  waitingBytes: limit(
    32 * 1024 * 1024,
    'bytes',
    'that uploads may hold while they wait, in each process: 8 KB each, and what of their bodies came behind the headers, 128 KB at most; past it the network with most of them is told `busy`',
    'memory',
    'a server of 350 MB at the worst',
  ),
  drainBytes: limit(
    64 * 1024 * 1024,
    'bytes',
    'read of a refused upload, so that the client reads the answer',
    'the network',
    'more than twice the largest file',
  ),
  unexpectedBodyBytes: limit(
    64 * 1024,
    'bytes',
    'read of a body that nobody asked for',
    'the network and the processor',
    'what a client sends before it reads the answer',
  ),
  drainMs: limit(
    20_000,
    'ms',
    'for which a refused body is read',
    SLOW,
    'a handover of a phone takes seconds',
  ),
  pipelined: limit(
    4,
    'requests',
    'that wait on a connection for the answers before them; past it the connection is cut off',
    'memory: 3 KB each; the processor: 40 µs for each when it is cut off',
    'no browser pipelines',
  ),
  connections: limit(
    4096,
    'connections',
    'of all addresses at once, in each process, trusted proxies too; one more takes the place of the one that was idle longest, and waits while none is idle',
    'memory and descriptors',
    'four times what nginx takes in a process; some 10 KB each',
  ),
  connectionsWaiting: limit(
    512,
    'connections',
    'of an address that wait, unread, while all that it may have are busy; one more is closed',
    'descriptors, and a few KB each',
    'a hundred browsers with six each',
  ),
  connectionsWaitingOfAll: limit(
    2048,
    'connections',
    'that wait in each process; past it the address with the most of them gives up one to those with less',
    'descriptors, and a few KB each',
    'four addresses that have all theirs waiting',
  ),
  connectionWaitMs: limit(
    30_000,
    'ms',
    'for which a connection waits; past it `busy`',
    'people, who would rather know',
    'the same as uploads wait',
  ),
  settleMs: limit(
    1000,
    'ms',
    'since its last answer, before an idle connection gives its place to another',
    'requests on their way at that moment',
    'a round trip of a slow phone',
  ),
  doorConnections: limit(
    128,
    'connections',
    "at the operator's door at once, in each process; one more takes the place of the one whose last request is longest ago",
    'others: 2,000 short headers block the event loop for 0.3 ms',
    'as many as an address may have at the public one; the operator needs a handful',
  ),
  lingerMs: limit(
    1000,
    'ms',
    'for which idle connections may be used once more when the server stops',
    'requests on their way at that moment',
    'a round trip',
  ),
  stopMs: limit(
    30_000,
    'ms',
    'for what is under way when the server stops',
    'restarts',
    'process managers kill after 30 s or more',
  ),
} satisfies Record<string, Limit>

export type Limits = { [Name in keyof typeof LIMIT_TABLE]: number }

export const LIMITS = Object.fromEntries(
  Object.entries(LIMIT_TABLE).map(([name, { figure }]) => [name, figure]),
) as Limits

function limit(figure: number, unit: Limit['unit'], of: string, protects: string, source: string): Limit {
  return { figure, unit, of, protects, source }
}
