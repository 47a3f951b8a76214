/** Converts V8 profiles (Chrome DevTools Protocol, `Profiler.Profile`) to a tree of frames with their times. */

interface Profile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[]
  /** Node IDs. */
  samples: number[]
  /** Time before each sample. Unit: microseconds. */
  timeDeltas: number[]
}

interface CallFrame {
  functionName: string
  url: string
}

/** Unit: microseconds. */
export interface Frame {
  name: string
  part: string
  self: number
  total: number
  children: Frame[]
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

/** The tree of frames, excluding idle time. */
export function treeOf(profile: Profile): Frame {
  const selves = new Map<number, number>()
  for (const [i, id] of profile.samples.entries()) {
    selves.set(id, (selves.get(id) ?? 0) + (profile.timeDeltas[i] ?? 0))
  }
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const frameOf = (id: number): Frame => {
    const { callFrame, children = [] } = nodes.get(id)!
    const { functionName, url } = callFrame
    const part = partOf(functionName, url)
    const frames = children.map(frameOf).filter(({ total }) => total > 0)
    const self = part === 'idle' ? 0 : Math.max(0, selves.get(id) ?? 0)
    const file = url.replace(/^.*\/(src|bench|node_modules)\//, '$1/')
    return {
      name: `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}`}`,
      part,
      self,
      total: frames.reduce((sum, { total }) => sum + total, self),
      children: frames.sort((a, b) => b.total - a.total),
    }
  }
  return frameOf(profile.nodes[0]!.id)
}

/** Unit: microseconds. */
export function timeByPart(root: Frame): Map<string, number> {
  const times = new Map<string, number>()
  const add = ({ part, self, children }: Frame): void => {
    times.set(part, (times.get(part) ?? 0) + self)
    for (const child of children) add(child)
  }
  add(root)
  return times
}
