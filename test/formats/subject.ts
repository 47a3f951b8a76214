/** Helpers for the format tests: inspects files with the code under test, and decodes them with sharp for comparison. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import sharp, { type Metadata } from 'sharp'
import { Refusal } from '../../src/errors.ts'
import { type ByteSource, type Inspection, isWhole, memorySource, readAll } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'

export interface Scrubbed extends Inspection {
  file: Buffer
  /** Nothing was removed: the result is one range over the whole file. */
  unchanged: boolean
}

/** Inspects a file and assembles the bytes that would be stored. */
export async function scrub(file: Uint8Array): Promise<Scrubbed> {
  const source = memorySource(file)
  const inspection = await inspect(source)
  return {
    ...inspection,
    file: Buffer.from(await readAll(source, inspection.segments)),
    unchanged: isWhole(inspection.segments, file.length),
  }
}

/** All pixels of all frames, and all metadata that affects display. Throws even on a warning of sharp. */
export async function decoded(file: Uint8Array): Promise<{ pixels: Buffer; shown: Partial<Metadata> }> {
  const options = { failOn: 'warning', animated: true, limitInputPixels: false } as const
  const metadata = await sharp(file, options).metadata()
  const { format, width, height, space, channels, depth, density, chromaSubsampling, isProgressive } =
    metadata
  const { pages, pageHeight, loop, delay, orientation, hasAlpha, icc, background } = metadata
  const pixels = await sharp(file, options)
    .raw({ depth: depth === 'ushort' ? 'ushort' : 'uchar' })
    .toBuffer()
  return {
    pixels,
    shown: {
      ...{ format, width, height, space, channels, depth, density, chromaSubsampling, isProgressive },
      ...{ pages, pageHeight, loop, delay, orientation, hasAlpha, icc, background },
    },
  }
}

/** Adds a test for each file: `inspect` refuses it as damaged. */
export function refuseAll(files: Record<string, Uint8Array>): void {
  for (const [name, bytes] of Object.entries(files)) {
    test(`refuses ${name}`, () =>
      assert.rejects(
        inspect(memorySource(bytes)),
        (error) => error instanceof Refusal && error.code === 'damaged-image',
      ))
  }
}

/** Wraps a source to count the reads of a walk. Unit: bytes, except for `calls`. */
export function counted(source: ByteSource) {
  const counts = { read: 0, largest: 0, calls: 0 }
  const read = async (offset: number, length: number) => {
    const result = await source.read(offset, length)
    counts.calls++
    counts.read += result.length
    counts.largest = Math.max(counts.largest, result.length)
    return result
  }
  return { source: { size: source.size, read }, counts }
}
