/** Where the samples of a track are (ISO/IEC 14496-12, 8.7). */
import { type Box, type Fields, refuse } from '../bmff/fields.ts'
import type { Runs } from '../bmff/runs.ts'

/** Most samples of all tracks: an hour at 30 frames a second has 108,000. */
export const MAX_SAMPLES = 2 ** 17

/** Every sample of a track in order, each inside the file. `table`: the children of `stbl`. */
export function readSamples(fields: Fields, table: Map<string, Box>, fileBytes: number): Runs {
  const sizes = sampleSizes(fields, table)
  const offsets = chunkOffsets(fields, table)
  const counts = chunkCounts(fields, table, offsets.length)
  const samples = new Float64Array(2 * sizes.length)
  let sample = 0
  for (const [chunk, offset] of offsets.entries()) {
    let at = offset
    const count = counts(chunk)
    if (count > sizes.length - sample) refuse('its sample tables contradict each other')
    for (const last = sample + count; sample < last; sample++) {
      samples[2 * sample] = at
      at += sizes[sample]!
      if (at > fileBytes) refuse('it is cut off: a frame lies outside it')
      samples[2 * sample + 1] = at
    }
  }
  if (sample !== sizes.length) refuse('its sample tables contradict each other')
  return samples
}

/** Unit: bytes. */
function sampleSizes(fields: Fields, table: Map<string, Box>): Uint32Array {
  const [plain, compact] = [table.get('stsz'), table.get('stz2')]
  if (plain) {
    const body = fields.bodyOf(plain)
    body.skip(4)
    const [size, count] = [body.u32(), counted(body.u32())]
    return filled(new Uint32Array(count), () => size || body.u32())
  }
  if (!compact) return refuse('it has neither stsz nor stz2')
  const body = fields.bodyOf(compact)
  body.skip(7)
  const bits = body.u8()
  const count = counted(body.u32())
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
  const box = short ?? long ?? refuse('it has neither stco nor co64')
  const body = fields.bodyOf(box)
  body.skip(4)
  const count = counted(body.u32())
  return filled(new Float64Array(count), () => body.uint(short ? 4 : 8))
}

function filled<A extends Uint32Array | Float64Array>(array: A, value: (index: number) => number): A {
  for (let index = 0; index < array.length; index++) array[index] = value(index)
  return array
}

/** How many samples a chunk holds (8.7.4). `chunks`: how many there are. Ask in ascending order. */
function chunkCounts(fields: Fields, table: Map<string, Box>, chunks: number): (chunk: number) => number {
  const body = fields.bodyOf(table.get('stsc') ?? refuse('stsc is missing'))
  body.skip(4)
  const runs = Array.from({ length: counted(body.u32()) }, () => {
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

function counted(count: number): number {
  return count <= MAX_SAMPLES ? count : refuse('it has too many frames')
}
