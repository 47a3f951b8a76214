/** Parses the `moov` box of an image sequence (ISO/IEC 14496-12, 8.3; AVIF 1.2, section 3). */

import { type Edit, overwrite, zeroEdits } from '../bmff/edits.ts'
import { type Box, Fields, refuse } from '../bmff/fields.ts'
import { type BoxFile, readRun } from '../bmff/file.ts'
import type { Runs } from '../bmff/runs.ts'
import { checkDimensions } from '../damaged.ts'
import { handlerOf, MAX_INDEX_BYTES } from './meta.ts'
import { configuredSequence } from './obus.ts'
import type { SequenceHeader } from './sequence-header.ts'

export interface Track {
  box: Box
  id: number
  /** Size in the track header, which viewers use. Unit: pixels. */
  width: number
  height: number
  /** The sequence header in the first sample entry. */
  sequence: SequenceHeader | null
  samples: Runs
  /** The children of `stbl`, by type. */
  table: Map<string, Box>
  /** Number of chunks. */
  chunks: number
  /** Number of samples. */
  frames: number
}

export interface Movie {
  box: Box
  /** A reader for the whole `moov` box. */
  fields: Fields
  /** The AV1 tracks. Other tracks are removed. */
  tracks: Track[]
}

/** Images, video, and auxiliary video, e.g. alpha. */
const PICTURE_HANDLERS: ReadonlySet<string> = new Set(['pict', 'vide', 'auxv'])

/** Limit on samples of all tracks. An hour at 30 frames per second has 108,000. */
const MAX_SAMPLES = 2 ** 17

/** Enough for colour, alpha, and a handful of others. */
const MAX_TRACKS = 64

/** Length of a visual sample entry before its child boxes (14496-12, 12.1.3). Unit: bytes. */
export const SAMPLE_ENTRY_BYTES = 86

export async function readMovie(file: BoxFile, box: Box): Promise<Movie> {
  if (box.end - box.start > MAX_INDEX_BYTES) refuse('its description is too large')
  const fields = new Fields(await readRun(file, box), box.start)
  const tracks: Track[] = []
  let frames = 0
  const children = fields
    .bodyOf(box)
    .boxes()
    .filter(({ type }) => type === 'trak')
  if (children.length > MAX_TRACKS) refuse('it has too many tracks')
  const { work } = file.cursor
  for (const child of children) {
    if (work.spend(Math.ceil((child.end - child.start) / 32))) await work.yield()
    const track = readTrack(fields, child, file.source.size)
    if (track) tracks.push(track)
    frames += track?.frames ?? 0
    if (frames > MAX_SAMPLES) refuse('it has too many frames')
  }
  return { box, fields, tracks }
}

/** `null` for a track that is not coded in AV1, or is a thumbnail. */
function readTrack(fields: Fields, box: Box, fileBytes: number): Track | null {
  const parts = childrenOf(fields, box)
  const media = childrenOf(fields, parts.get('mdia'))
  const table = childrenOf(fields, childrenOf(fields, media.get('minf')).get('stbl'))
  const [header, descriptions, handler] = [parts.get('tkhd'), table.get('stsd'), media.get('hdlr')]
  if (!header || !descriptions || !handler) return null
  if (!PICTURE_HANDLERS.has(handlerOf(fields.bodyOf(handler)))) return null
  if (childrenOf(fields, parts.get('tref')).has('thmb')) return null

  const entries = sampleEntries(fields, descriptions)
  if (entries.length === 0 || entries.some(({ type }) => type !== 'av01')) return null
  const sequences = entries.map((entry) => {
    const config = fields
      .within(entry.start + SAMPLE_ENTRY_BYTES, entry.end)
      .boxes()
      .find(({ type }) => type === 'av1C')
    return configuredSequence(config ? fields.bodyOf(config) : null)
  })
  for (const one of sequences) if (one) checkDimensions(one.maxWidth, one.maxHeight)
  const [sequence = null] = sequences
  const { samples, chunks } = readSamples(fields, table, fileBytes)
  const frames = samples.length / 2
  return { box, ...trackHeader(fields.bodyOf(header)), sequence, samples, table, chunks, frames }
}

/** The first child of each type. */
function childrenOf(fields: Fields, box: Box | undefined): Map<string, Box> {
  const children = new Map<string, Box>()
  if (!box) return children
  for (const child of fields.bodyOf(box).boxes()) {
    if (!children.has(child.type)) children.set(child.type, child)
  }
  return children
}

/** 14496-12, 8.5.2. */
export function sampleEntries(fields: Fields, descriptions: Box): Box[] {
  const body = fields.bodyOf(descriptions)
  body.skip(4)
  const count = body.u32()
  const entries = body.boxes()
  return entries.length === count ? entries : refuse('the number of entries in stsd does not match its count')
}

/** 14496-12, 8.3.2. */
function trackHeader(fields: Fields): { id: number; width: number; height: number } {
  const wide = fields.versionAndFlags().version === 1
  fields.skip(wide ? 16 : 8)
  const id = fields.u32()
  fields.skip(4 + (wide ? 8 : 4) + 52)
  return { id, width: fields.u32() >>> 16, height: fields.u32() >>> 16 }
}

/**
 * The ranges of a track's samples, in order, and the number of its chunks (14496-12, 8.7). Throws when a sample exceeds the file.
 * `table`: children of `stbl`.
 */
function readSamples(
  fields: Fields,
  table: Map<string, Box>,
  fileBytes: number,
): { samples: Runs; chunks: number } {
  const sizes = sampleSizes(fields, table)
  const offsets = chunkOffsets(fields, table)
  const counts = chunkCounts(fields, table, offsets.length)
  const samples = new Float64Array(2 * sizes.length)
  let sample = 0
  for (const [chunk, offset] of offsets.entries()) {
    let at = offset
    const count = counts(chunk)
    if (count === 0 || count > sizes.length - sample) refuse('its sample tables contradict each other')
    for (const last = sample + count; sample < last; sample++) {
      samples[2 * sample] = at
      at += sizes[sample]!
      if (at > fileBytes) refuse('it is cut off: a frame lies outside it')
      samples[2 * sample + 1] = at
    }
  }
  if (sample !== sizes.length) refuse('its sample tables contradict each other')
  return { samples, chunks: offsets.length }
}

/** Unit: bytes. */
function sampleSizes(fields: Fields, table: Map<string, Box>): Uint32Array {
  const [plain, compact] = [table.get('stsz'), table.get('stz2')]
  if (plain && compact) refuse('it has both stsz and stz2')
  if (plain) {
    const body = fields.bodyOf(plain)
    body.skip(4)
    const [size, count] = [body.u32(), checkedCount(body.u32())]
    return filled(new Uint32Array(count), () => size || body.u32())
  }
  if (!compact) return refuse('it has neither stsz nor stz2')
  const body = fields.bodyOf(compact)
  body.skip(7)
  const bits = body.u8()
  const count = checkedCount(body.u32())
  if (bits === 8) return filled(new Uint32Array(count), () => body.u8())
  if (bits === 16) return filled(new Uint32Array(count), () => body.u16())
  if (bits !== 4) refuse('its sample tables contradict each other')
  let byte = 0
  return filled(new Uint32Array(count), (i) => {
    if (i % 2 === 0) byte = body.u8()
    return i % 2 === 0 ? byte >> 4 : byte & 15
  })
}

function chunkOffsets(fields: Fields, table: Map<string, Box>): Float64Array {
  const [short, long] = [table.get('stco'), table.get('co64')]
  if (short && long) refuse('it has both stco and co64')
  const box = short ?? long ?? refuse('it has neither stco nor co64')
  const body = fields.bodyOf(box)
  body.skip(4)
  const count = checkedCount(body.u32())
  return filled(new Float64Array(count), () => body.uint(short ? 4 : 8))
}

function filled<A extends Uint32Array | Float64Array>(array: A, value: (index: number) => number): A {
  for (let index = 0; index < array.length; index++) array[index] = value(index)
  return array
}

/** Returns a lookup of samples per chunk (8.7.4), to be called in ascending order. `chunks`: the number of chunks. */
function chunkCounts(fields: Fields, table: Map<string, Box>, chunks: number): (chunk: number) => number {
  const body = fields.bodyOf(table.get('stsc') ?? refuse('stsc is missing'))
  body.skip(4)
  const runs = Array.from({ length: checkedCount(body.u32()) }, () => {
    const [first, count] = [body.u32() - 1, body.u32()]
    body.skip(4)
    return { first, count }
  })
  const ascending = runs.every(
    (run, i) => run.first === (i === 0 ? 0 : Math.max(run.first, (runs[i - 1]?.first ?? 0) + 1)),
  )
  if (chunks > 0 && (runs.length === 0 || !ascending)) refuse('its sample tables contradict each other')
  let index = 0
  return (chunk) => {
    while ((runs[index + 1]?.first ?? Number.POSITIVE_INFINITY) <= chunk) index++
    return runs[index]?.count ?? 0
  }
}

/**
 * The edits that remove what readers skip in the tables of a track: the entries after its last sample or chunk (14496-12,
 * 8.6.1, 8.6.2 and 8.7.4), and the bytes after the last entry.
 */
export function unusedEntryEdits(fields: Fields, { table, chunks, frames }: Track): Edit[] {
  /** `isUsed`: reads an entry. */
  const edits = (type: string, entryBytes: number, isUsed: (entry: Fields) => boolean): Edit[] => {
    const box = table.get(type)
    if (!box) return []
    const body = fields.bodyOf(box)
    body.skip(4)
    const countAt = body.at
    const count = body.u32()
    let used = 0
    while (used < count && isUsed(body)) used++
    return [
      ...(used < count ? [overwrite(countAt, 4, used)] : []),
      ...zeroEdits(fields, countAt + 4 + used * entryBytes, box.end),
    ]
  }
  const times = (type: string) => {
    let left = frames
    return edits(type, 8, (entry) => {
      if (left <= 0) return false
      left -= entry.u32() || refuse('its sample tables contradict each other')
      entry.skip(4)
      return true
    })
  }
  let last = 0
  const stsd = table.get('stsd')
  const descriptions = stsd ? sampleEntries(fields, stsd).length : 0
  return [
    ...times('stts'),
    ...times('ctts'),
    ...edits('stsc', 12, (entry) => {
      const first = entry.u32()
      if (first > chunks) return false
      entry.skip(4)
      const description = entry.u32()
      if (description < 1 || description > descriptions) refuse('its sample tables contradict each other')
      return true
    }),
    ...edits('stss', 4, (entry) => {
      const sample = entry.u32()
      if (sample <= last) refuse('its sample tables contradict each other')
      last = sample
      return sample <= frames
    }),
  ]
}

function checkedCount(count: number): number {
  return count <= MAX_SAMPLES ? count : refuse('it has too many frames')
}
