/** Sums V8 profiles (Chrome DevTools Protocol, `Profiler.Profile`) by part of the program. */

interface Profile {
  nodes: { id: number; callFrame: CallFrame }[]
  /** Node IDs. */
  samples: number[]
  /** Time before each sample. Unit: microseconds. */
  timeDeltas: number[]
}

interface CallFrame {
  functionName: string
  url: string
}

/** The parts that functions are grouped into, in the order of the table. The first match wins. */
const PARTS: [part: string, matches: (name: string, file: string) => boolean][] = [
  ['idle', (name) => name === '(idle)'],
  ['garbage collection', (name) => name === '(garbage collector)'],
  [
    'to and from the socket',
    (name, file) => isNative(file) && /^(write|read)[A-Z]|^writev$|^shutdown$/.test(name),
  ],
  ['to other threads: files, flushes', (name, file) => isNative(file) && FILE_CALLS.has(name)],
  ['digests', (name, file) => /xxhash|wasm|h64|hash|digest|sha/i.test(`${name} ${file}`)],
  ['HTTP, in Node', (_, file) => /^node:(_http|internal\/http|_tls|https?)/.test(file)],
  [
    'sockets, streams and timers, in Node',
    (_, file) =>
      /^node:(net|internal\/(streams|stream_base|timers|webstreams)|stream|timers|events|internal\/(async_hooks|process|event))/.test(
        file,
      ),
  ],
  ['files, in Node', (_, file) => /^node:(fs|internal\/fs)/.test(file)],
  [
    'SQLite',
    (name, file) =>
      file.includes('/src/stores/sqlite/') ||
      (isNative(file) && /^(all|get|exec|prepare|columns)$/.test(name)),
  ],
  ['the rest of Node', (_, file) => file.startsWith('node:') || isNative(file)],
  ['undici', (_, file) => file.includes('/undici/')],
  ['other libraries', (_, file) => file.includes('/node_modules/')],
  ['ours: formats', (_, file) => file.includes('/src/formats/')],
  ['ours: stores', (_, file) => file.includes('/src/stores/')],
  ['ours: HTTP', (_, file) => /\/src\/(http|node)\//.test(file)],
  ['ours: the rest', () => true],
]
const FILE_CALLS = new Set([
  'open',
  'close',
  'read',
  'fstat',
  'stat',
  'run',
  'existsSync',
  'preadv2',
  'fsync',
  'rename',
  'writeBuffers',
  'unlink',
  'statfs',
  'FSReqCallback',
])

export const PART_NAMES = PARTS.map(([part]) => part).filter((part) => part !== 'idle')

function isNative(file: string): boolean {
  return file === ''
}

function partOf(name: string, file: string): string {
  return PARTS.find(([, matches]) => matches(name, file))![0]
}

/** Unit: microseconds. */
export function timeByPart({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const parts = new Map(
    nodes.map(({ id, callFrame: { functionName, url } }) => [id, partOf(functionName, url)]),
  )
  const times = new Map<string, number>()
  for (const [i, id] of samples.entries()) {
    const part = parts.get(id)!
    times.set(part, (times.get(part) ?? 0) + Math.max(0, timeDeltas[i] ?? 0))
  }
  return times
}
