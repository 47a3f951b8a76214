/** Plants a marker wherever an AVIF file can contain one. */
import { box, bytes, fullBox, u32 } from './avif/boxes.ts'
import { MARKER, type Planted, type Planter } from './planting.ts'

/** Container boxes, and the length of the fields before their children. Unit: bytes. */
const CONTAINERS: Record<string, number> = {
  ...{
    meta: 4,
    iprp: 0,
    ipco: 0,
    iinf: 6,
    iref: 4,
    grpl: 0,
    moov: 0,
    trak: 0,
    tref: 0,
    edts: 0,
    mdia: 0,
    minf: 0,
  },
  ...{ stbl: 0, dinf: 0, dref: 8, stsd: 8, av01: 78 },
}
/** Containers with a count of their children. */
const COUNTED = new Set(['iinf', 'dref', 'stsd'])

export interface Tree {
  type: string
  /** The bytes before the children, or the whole body of a leaf. */
  head: Uint8Array
  children: Tree[]
}

/** The boxes between two offsets of a file. */
export function treesIn(file: Uint8Array, from = 0, end = file.length): Tree[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  const trees: Tree[] = []
  for (let at = from; at + 8 <= end; ) {
    const length = view.getUint32(at)
    const type = Buffer.from(file.subarray(at + 4, at + 8)).toString('latin1')
    const inner = Object.hasOwn(CONTAINERS, type) ? CONTAINERS[type] : undefined
    const bodyEnd = inner === undefined ? at + length : at + 8 + inner
    const children = inner === undefined ? [] : treesIn(file, bodyEnd, at + length)
    trees.push({ type, head: file.subarray(at + 8, bodyEnd), children })
    at += length
  }
  return trees
}

export function written({ type, head, children }: Tree): Uint8Array {
  return box(type, head, ...children.map(written))
}

/** For files with the data before the metadata, so that no offset changes. */
export const avifPlanter: Planter = {
  inserted(file) {
    const planted: Planted[] = []
    const visit = (trees: Tree[], whole: (trees: Tree[]) => Uint8Array, path: string) => {
      for (const [index, tree] of trees.entries()) {
        const { type, head, children } = tree
        const ownPath = `${path}/${type}`
        if (type !== 'mdat' && children.length === 0) {
          const longer = { type, head: bytes(head, MARKER), children }
          planted.push({ where: `at the end of ${ownPath}`, bytes: whole(trees.with(index, longer)) })
        }
        if (children.length > 0 && !COUNTED.has(type)) {
          for (const [strange, extra] of Object.entries(STRANGE_BOXES)) {
            const more = { type, head, children: [...children, extra] }
            planted.push({ where: `${strange} in ${ownPath}`, bytes: whole(trees.with(index, more)) })
          }
        }
        visit(children, (inner) => whole(trees.with(index, { type, head, children: inner })), ownPath)
      }
    }
    const top = treesIn(file)
    const whole = (trees: Tree[]) => bytes(...trees.map(written))
    visit(top, whole, '')
    for (const [strange, extra] of Object.entries(STRANGE_BOXES)) {
      planted.push({ where: `${strange} at the end`, bytes: whole([...top, extra]) })
    }
    return [...planted, { where: 'after the end', bytes: bytes(file, MARKER) }]
  },
  coded(file) {
    const all = Buffer.from(file)
    const mdat = all.indexOf('mdat')
    const found = [{ start: mdat + 4, end: mdat - 4 + all.readUInt32BE(mdat - 4) }]
    // Players use the duration and speed of a sequence: times, followed by the preferred rate.
    for (const header of ['mvhd', 'mdhd']) {
      const at = all.indexOf(header)
      if (at > 0) found.push({ start: at + 16, end: at + 28 })
    }
    const durations = all.indexOf('stts')
    if (durations > 0) found.push({ start: durations + 12, end: durations + 20 })
    for (let at = all.indexOf('colrprof'); at >= 0; at = all.indexOf('colrprof', at + 1)) {
      found.push({ start: at + 8, end: at - 4 + all.readUInt32BE(at - 4) })
    }
    return found
  },
  repaired: (file) => file,
}

function strange(made: Uint8Array): Tree {
  return { type: Buffer.from(made.subarray(4, 8)).toString('latin1'), head: made.subarray(8), children: [] }
}

const STRANGE_BOXES: Record<string, Tree> = {
  uuid: strange(box('uuid', new Uint8Array(16), MARKER)),
  free: strange(box('free', MARKER)),
  'an unknown box': strange(box('prvt', MARKER)),
  udta: strange(box('udta', box('name', MARKER))),
  'an unused property': strange(box('colr', 'nclx', [0, 1, 0, 1, 0, 1, 0x80], MARKER)),
  'a group': strange(fullBox('altr', 0, 0, u32(9, 2), MARKER)),
}
