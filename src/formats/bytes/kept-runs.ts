/** Collects the parts of a file to keep, in order. Adjacent ranges are merged, so a clean file is a single range. */
import { damaged } from '../damaged.ts'
import type { Segment } from '../image.ts'

/** A well-formed file needs a handful. A hostile one could force a segment every few bytes, and each costs a read. */
const MAX_SEGMENTS = 4096

export interface KeptRuns {
  /** Keeps `length` bytes of the source from `offset`. */
  keep(offset: number, length: number): void
  /** Appends literal bytes. */
  put(bytes: Uint8Array): void
  /** Appends segments that were collected elsewhere. */
  append(segments: Segment[]): void
  readonly segments: Segment[]
}

export function keptRuns(): KeptRuns {
  const segments: Segment[] = []

  function push(segment: Segment): void {
    if (segments.length >= MAX_SEGMENTS)
      throw damaged('The image and its metadata are split into too many pieces.')
    segments.push(segment)
  }

  function keep(offset: number, length: number): void {
    if (length === 0) return
    const last = segments.at(-1)
    if (last && !(last instanceof Uint8Array) && last.offset + last.length === offset) {
      segments[segments.length - 1] = { offset: last.offset, length: last.length + length }
    } else {
      push({ offset, length })
    }
  }

  function put(bytes: Uint8Array): void {
    if (bytes.length > 0) push(bytes)
  }

  return {
    segments,
    keep,
    put,
    append(more) {
      for (const segment of more) {
        if (segment instanceof Uint8Array) put(segment)
        else keep(segment.offset, segment.length)
      }
    },
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
