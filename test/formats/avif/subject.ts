/** Helpers for the AVIF tests: inspects files with the code under test, and decodes them with sharp for comparison. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { Refusal } from '../../../src/errors.ts'
import { inspectAvif } from '../../../src/formats/avif/avif.ts'
import { type Inspection, memorySource } from '../../../src/formats/image.ts'
import { corpus as images } from '../../support/corpus.ts'
import { type Scrubbed, scrub } from '../subject.ts'

export function inspect(file: Uint8Array): Promise<Inspection> {
  return inspectAvif(memorySource(file))
}

/** `accepted`, or the error code of the refusal. */
async function outcome(file: Uint8Array): Promise<string> {
  try {
    await inspect(file)
    return 'accepted'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

export async function assertOutcome(file: Uint8Array, expected: string, message?: string): Promise<void> {
  assert.equal(await outcome(file), expected, message)
}

/** Pixels of the primary image, and all metadata that affects display. Throws even on a warning of sharp. */
export async function decoded(file: Uint8Array) {
  const options = { failOn: 'warning', limitInputPixels: false } as const
  const { data, info } = await sharp(file, options)
    .raw({ depth: 'ushort' })
    .toBuffer({ resolveWithObject: true })
  const { width, height, pages, orientation, density, icc, hasAlpha, exif, xmp } =
    await sharp(file).metadata()
  return { data, info, width, height, pages, orientation, density, icc, hasAlpha, exif, xmp }
}

/** The AVIF files of the corpus. */
export function corpus(): { name: string; file: Uint8Array }[] {
  return images(/\.avif$/).map(({ name, bytes: file }) => ({ name, file }))
}

/**
 * Scrubs a file and checks the invariants: the pixels are unchanged, no secret is left, and scrubbing is idempotent.
 * `clean`: the same image without private data, for a file that sharp cannot decode.
 */
export async function assertScrubbed(file: Uint8Array, clean = file): Promise<Scrubbed> {
  const before = await decoded(clean)
  const result = await scrub(file)
  assert.equal(result.unchanged, false)
  const { exif: _, xmp: __, ...after } = await decoded(result.file)
  const { exif: ___, xmp: ____, ...wanted } = before
  assert.deepEqual(after, wanted)
  assert.equal(Buffer.from(result.file).includes('SECRET'), false)
  const again = await scrub(result.file)
  assert.deepEqual([again.unchanged, again.hasLocation], [true, false])
  assert.deepEqual(
    [again.width, again.height, again.animated],
    [result.width, result.height, result.animated],
  )
  return result
}
