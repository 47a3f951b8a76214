/** Helpers for the format tests: inspects files with the code under test, and decodes them with sharp for comparison. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import sharp, { type Metadata } from 'sharp'
import { Refusal } from '../../src/errors.ts'
import {
  type ByteSource,
  type Inspection,
  isWhole,
  lengthOf,
  memorySource,
  readAll,
} from '../../src/formats/image.ts'
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

/** Maximum length added by `minimalExif`, a gain map's XMP and new headers. Unit: bytes. */
const ADDED_BYTES = 2048

/** Asserts that the file is refused (`null`), or gives a consistent result that needs no more scrubbing. */
export async function assertHandled(bytes: Uint8Array): Promise<Scrubbed | null> {
  let result: Scrubbed
  try {
    result = await scrub(bytes)
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.match(error.code, /^(damaged-image|unsupported-type)$/)
    return null
  }
  const { type, width, height, animated, segments } = result
  assert.ok(width >= 1 && height >= 1)
  let end = 0
  for (const segment of segments) {
    if (segment instanceof Uint8Array) continue
    assert.ok(segment.length > 0 && segment.offset >= end && segment.offset + segment.length <= bytes.length)
    end = segment.offset + segment.length
  }
  assert.ok(lengthOf(segments) <= bytes.length + (type === 'image/avif' ? 0 : ADDED_BYTES))
  const again = await scrub(result.file)
  assert.deepEqual(
    [again.unchanged, again.type, again.width, again.height, again.animated],
    [true, type, width, height, animated],
  )
  return result
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
