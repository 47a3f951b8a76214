/** Reads the metadata chunks of a valid PNG (PNG, third edition, section 11). */
import { cursorOver } from '../../formats/bytes/cursor.ts'
import { latin1 } from '../../formats/bytes/text.ts'
import { inflate } from '../../formats/bytes/zlib.ts'
import type { ByteSource } from '../../formats/image.ts'
import { readExif } from '../../formats/metadata/exif.ts'
import { MAX_PROFILE_BYTES, validProfile } from '../../formats/metadata/icc.ts'
import { hasColour } from '../../formats/png/header.ts'
import { profileKindOf } from './icc.ts'
import type { PngFacts } from './plan.ts'

const SIGNATURE_BYTES = 8

/** `source`: the file without its metadata, and so without chunks that decoders ignore. */
export async function pngFactsOf(
  source: ByteSource,
): Promise<{ facts: PngFacts; profile: Uint8Array | null }> {
  const chunks = await chunksOf(source)
  const compressed = chunks.get('iCCP')
  const profile = compressed ? await profileOf(compressed) : null
  const kind = profileKindOf(profile)
  const [bitDepth = 0, colourType = 0] = chunks.get('IHDR')?.subarray(8) ?? []
  // Viewers disagree about whether an RGB profile applies to a grey image.
  const isUnusable = compressed && (profile === null || (kind === 'rgb' && !hasColour(colourType)))
  const tagged = compressed !== undefined || chunks.has('sRGB')
  return {
    facts: {
      bitDepth,
      specialColour: chunks.has('cICP') || (!tagged && hasOwnGamma(chunks)),
      orientation: readExif(chunks.get('eXIf') ?? new Uint8Array()).orientation ?? 1,
      profile: isUnusable ? 'unusable' : kind,
    },
    profile,
  }
}

const WANTED = new Set(['IHDR', 'iCCP', 'sRGB', 'cICP', 'gAMA', 'cHRM', 'eXIf'])

/** The first of each kind before the pixels. */
async function chunksOf(source: ByteSource): Promise<Map<string, Uint8Array>> {
  const chunks = new Map<string, Uint8Array>()
  const cursor = cursorOver(source)
  for (let at = SIGNATURE_BYTES; at + 12 <= source.size; ) {
    const head = cursor.peek(at, 8) ?? (await cursor.load(at, 8))
    const length = new DataView(head.buffer, head.byteOffset).getUint32(0)
    const name = latin1(head.subarray(4, 8))
    if (name === 'IDAT') break
    if (WANTED.has(name) && length <= MAX_PROFILE_BYTES && !chunks.has(name)) {
      const chunk = cursor.peek(at + 8, length) ?? (await cursor.load(at + 8, length))
      chunks.set(name, chunk.slice(0, length))
    }
    at += 12 + length
  }
  return chunks
}

/** Unit: 1/100,000 (PNG, 11.3.2.2). */
const SRGB_GAMMA = 45_455
const SRGB_CHROMATICITIES = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]
const TOLERANCE = 100

function hasOwnGamma(chunks: Map<string, Uint8Array>): boolean {
  return differs(chunks.get('gAMA'), [SRGB_GAMMA]) || differs(chunks.get('cHRM'), SRGB_CHROMATICITIES)
}

function differs(chunk: Uint8Array | undefined, expected: number[]): boolean {
  if (chunk === undefined) return false
  if (chunk.length !== 4 * expected.length) return true
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return expected.some((value, i) => Math.abs(view.getUint32(4 * i) - value) > TOLERANCE)
}

/** iCCP: a name, NUL, method 0, then a zlib stream. `null` if the profile is incomplete. */
async function profileOf(chunk: Uint8Array): Promise<Uint8Array | null> {
  const nameEnd = chunk.indexOf(0)
  if (nameEnd < 1 || chunk[nameEnd + 1] !== 0) return null
  const bytes = await inflate(chunk.subarray(nameEnd + 2), MAX_PROFILE_BYTES)
  return bytes && validProfile(bytes)
}
