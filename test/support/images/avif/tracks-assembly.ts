/** Assembles tracks of image sequences. */
import { assemble, type Coded, type Plan } from './assembly.ts'
import { box, fullBox, u16, u32, u32s } from './boxes.ts'

export interface TrackPlan {
  id?: number
  handler?: string
  /** Type of the sample entry. */
  entry?: string
  picture: Coded
  /** Offset and length of each sample. Each is a chunk of its own. */
  samples: { at: number; length: number }[]
  /** Sample tables instead of the usual ones, or in addition to them. */
  tables?: { stts?: Uint8Array; stsc?: Uint8Array; more?: Uint8Array }
  /** More boxes in `trak`. */
  extras?: Uint8Array[]
  /** Seconds since 1904. */
  time?: number
  wideOffsets?: boolean
}

export function track(plan: TrackPlan): Uint8Array {
  const {
    id = 1,
    handler = 'pict',
    entry = 'av01',
    picture,
    samples,
    extras = [],
    tables = {},
    time = 0,
  } = plan
  const visual = box(
    entry,
    ...[
      new Uint8Array(6),
      u16(1),
      new Uint8Array(16),
      u16(picture.width, picture.height),
      u32(0x480000, 0x480000, 0),
    ],
    ...[u16(1), new Uint8Array(32), u16(24, 0xffff), picture.av1C],
  )
  const offsets = samples.map(({ at }) => at)
  const table = box(
    'stbl',
    fullBox('stsd', 0, 0, u32(1), visual),
    tables.stts ?? fullBox('stts', 0, 0, u32(1, samples.length, 100)),
    tables.stsc ?? fullBox('stsc', 0, 0, u32(1, 1, 1, 1)),
    tables.more ?? [],
    fullBox('stsz', 0, 0, u32(0, samples.length), u32s(samples.map(({ length }) => length))),
    plan.wideOffsets
      ? fullBox('co64', 0, 0, u32(samples.length), u32s(offsets.flatMap((at) => [0, at])))
      : fullBox('stco', 0, 0, u32(samples.length), u32s(offsets)),
  )
  return box(
    'trak',
    fullBox(
      'tkhd',
      0,
      3,
      u32(time, time, id, 0, samples.length * 100),
      new Uint8Array(16),
      MATRIX,
      u32(picture.width << 16, picture.height << 16),
    ),
    box(
      'mdia',
      fullBox('mdhd', 0, 0, u32(time, time, 1000, samples.length * 100), u16(0x55c4, 0)),
      fullBox('hdlr', 0, 0, u32(0), handler, u32(0, 0, 0), [0]),
      box(
        'minf',
        fullBox('vmhd', 0, 1, new Uint8Array(8)),
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 1))),
        table,
      ),
    ),
    ...extras,
  )
}

export function moov(tracks: Uint8Array[], extras: Uint8Array[] = [], time = 0): Uint8Array {
  const header = [
    u32(time, time, 1000, 100),
    u32(0x10000),
    u16(0x100),
    new Uint8Array(10),
    MATRIX,
    new Uint8Array(24),
  ]
  return box('moov', fullBox('mvhd', 0, 0, ...header, u32(99)), ...tracks, ...extras)
}

const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

/** A sequence of one frame. `more`: options of its track. `plan`: options of the file. */
export function film(picture: Coded, more: Partial<TrackPlan> = {}, plan: Plan = {}): Uint8Array {
  return assemble({
    brands: ['avis', 'avif'],
    blobs: [picture.data],
    moov: ([at = 0]) => moov([track({ picture, samples: [{ at, length: picture.data.length }], ...more })]),
    ...plan,
  })
}

/** A track of one chunk with many samples of equal length. Its box is no larger than for one sample. */
export function crowded(picture: Coded, at: number, samples: number, length: number): Uint8Array {
  const made = Buffer.from(track({ picture, samples: [{ at, length }] }))
  made.writeUInt32BE(samples, made.indexOf('stsc') + 16)
  made.writeUInt32BE(length, made.indexOf('stsz') + 8)
  made.writeUInt32BE(samples, made.indexOf('stsz') + 12)
  return new Uint8Array(made)
}
