/** The tracks of an image sequence (ISO/IEC 14496-12, 8.3; AVIF 1.2, section 3): its `moov` box. */

import { type Box, Fields, refuse } from '../bmff/fields.ts'
import { type BoxFile, readRun } from '../bmff/file.ts'
import type { Runs } from '../bmff/runs.ts'
import { type CodecSettings, codecSettings } from './config-units.ts'
import { handlerOf, MAX_INDEX_BYTES } from './meta.ts'
import { MAX_SAMPLES, readSamples } from './samples.ts'

export interface Track {
  box: Box
  id: number
  /** As the track header says; viewers show that. Unit: pixels. */
  width: number
  height: number
  /** Settings of the first sample. */
  settings: CodecSettings
  samples: Runs
  /** How many samples it has. */
  frames: number
}

export interface Movie {
  box: Box
  /** All of the `moov` box. */
  fields: Fields
  /** The tracks of AV1 pictures; any other is not kept. */
  tracks: Track[]
}

/** Pictures, video, and what completes them, e.g. alpha. */
const PICTURE_HANDLERS: ReadonlySet<string> = new Set(['pict', 'vide', 'auxv'])

/** Colour, alpha, and a handful of others. */
const MAX_TRACKS = 64

/** From the start of a visual sample entry to its boxes (14496-12, 12.1.3). Unit: bytes. */
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
    if (work.spend(Math.ceil((child.end - child.start) / 32))) await work.turn()
    const track = readTrack(fields, child, file.source.size)
    if (track) tracks.push(track)
    frames += track?.frames ?? 0
    if (frames > MAX_SAMPLES) refuse('it has too many frames')
  }
  return { box, fields, tracks }
}

/** `null` for a track that is not an AV1 picture, and for a thumbnail. */
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
  const [settings = { sequence: null }] = entries.map((entry) => {
    const config = fields
      .within(entry.start + SAMPLE_ENTRY_BYTES, entry.end)
      .boxes()
      .find(({ type }) => type === 'av1C')
    return codecSettings(config ? fields.bodyOf(config) : null)
  })
  const samples = readSamples(fields, table, fileBytes)
  return {
    box,
    ...trackHeader(fields.bodyOf(header)),
    settings,
    samples,
    frames: samples.length / 2,
  }
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
  return entries.length === count ? entries : refuse('stsd does not hold as many entries as it says')
}

/** 14496-12, 8.3.2. */
function trackHeader(fields: Fields): { id: number; width: number; height: number } {
  const wide = fields.versionAndFlags().version === 1
  fields.skip(wide ? 16 : 8)
  const id = fields.u32()
  fields.skip(4 + (wide ? 8 : 4) + 52)
  return { id, width: fields.u32() >>> 16, height: fields.u32() >>> 16 }
}
