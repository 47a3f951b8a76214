/**
 * A marker planted in every known hiding place. The places where it survives are listed in SECURITY.md with the reason; it
 * survives nowhere else: the list below is exact. What a decoder shows stays the same.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { pngChunks } from '../support/chunks.ts'
import { MARKER } from '../support/images/planting.ts'
import { pngPlaces, scatteredPlaces, webpPlaces } from '../support/images/planting-places.ts'
import { avifPlaces } from '../support/images/planting-places-avif.ts'
import { jpegPlaces } from '../support/images/planting-places-jpeg.ts'
import { decoded, scrub } from './subject.ts'

/** Rows of the table in SECURITY.md. */
const CODED = 'coded data after the last pixel'
const UNUSED = 'entries that no pixel uses'
const PROFILE = 'the text of a valid ICC profile'
const OTHERS = 'further images in the file'
const NUMBERS = 'numbers that decoders read'

/** The places where the marker survives, with their row in SECURITY.md. */
const SURVIVORS: Record<string, Record<string, string>> = {
  JPEG: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'after the last block': CODED,
    'after the last block of a restart interval': CODED,
    'codes that no block uses': UNUSED,
    'quantisation values that no block uses': UNUSED,
    'the resolution of Exif': NUMBERS,
  },
  PNG: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'after the zlib stream of the image data': CODED,
    'colours that no pixel uses': UNUSED,
    'the fallback image for viewers without animation': 'the fallback image of an APNG',
    'the resolution of Exif': NUMBERS,
    resolution: NUMBERS,
    primaries: NUMBERS,
    'the maximum luminance': NUMBERS,
    'the luminance of a mastering display': NUMBERS,
  },
  WebP: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'after the last partition': CODED,
    'the resolution of Exif': NUMBERS,
  },
  AVIF: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'after the last tile': CODED,
    'another image in the file': OTHERS,
    'the luminance of a mastering display': NUMBERS,
    'the numbers of a tone map': NUMBERS,
    'the numbers of a sample transform': NUMBERS,
    'the background colour of an overlay': NUMBERS,
    'edits of a track': NUMBERS,
  },
}

const places = {
  JPEG: await jpegPlaces(),
  PNG: await pngPlaces(),
  WebP: await webpPlaces(),
  AVIF: await avifPlaces(),
}

for (const [format, files] of Object.entries(places)) {
  describe(format, () => {
    const named = SURVIVORS[format] ?? {}
    for (const [place, file] of Object.entries(files)) {
      test(place, async () => {
        const { file: stored } = await scrub(file)
        assert.equal(holdsMarker(stored), place in named, 'survives exactly if listed in SECURITY.md')
        assert.ok((await scrub(stored)).unchanged, 'scrubbing it again changes nothing')
        // Decoders reject some units of AV1, but not the same image without them.
        const shown = await pixelsOf(place.startsWith('AV1') ? files['AV1 metadata']! : file)
        if (shown !== null) assert.deepEqual(await pixelsOf(stored), shown)
      })
    }

    test('surviving places are listed in SECURITY.md with the reason', () => {
      const security = readFileSync(join(import.meta.dirname, '../../SECURITY.md'), 'utf8').replaceAll(
        /\s+/g,
        ' ',
      )
      for (const [place, words] of Object.entries(named)) {
        assert.ok(place in files, place)
        assert.ok(security.includes(`| ${words}`), `SECURITY.md does not say: ${words}`)
      }
    })
  })
}

test('a marker spread over fields of one or two bytes is removed', async () => {
  for (const [planted, clean] of await scatteredPlaces()) {
    assert.notDeepEqual(planted, clean)
    assert.deepEqual((await scrub(planted)).file, (await scrub(clean)).file)
    assert.deepEqual(await decoded(planted), await decoded((await scrub(planted)).file))
  }
})

/** `null` if a decoder rejects the file, as it may before scrubbing. */
function pixelsOf(file: Uint8Array): Promise<Buffer | null> {
  return decoded(file).then(
    ({ pixels }) => pixels,
    () => null,
  )
}

/** Searches the file, and its inflated parts. */
function holdsMarker(file: Buffer): boolean {
  if (file.includes(MARKER)) return true
  if (file[0] !== 0x89) return false
  return pngChunks(file).some(({ type, body }) => {
    if (type !== 'iCCP' && type !== 'IDAT') return false
    const zlib = type === 'iCCP' ? body.subarray(body.indexOf(0) + 2) : body
    return inflateSync(zlib).includes(MARKER)
  })
}
