/**
 * A text at every place that is known to take one. What comes back is named in SECURITY.md with its reason, and nothing else
 * comes back: the list here is exact.
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

/** Each with the row that names it. */
const SURVIVORS: Record<string, Record<string, string>> = {
  JPEG: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'behind the last block': CODED,
    'behind the last block of a restart interval': CODED,
    'codes that no block uses': UNUSED,
    'factors that no block uses': UNUSED,
    'the resolution of Exif': NUMBERS,
  },
  PNG: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'behind the zlib stream of the picture': CODED,
    'colours that no pixel uses': UNUSED,
    'the picture that viewers without animation show': 'the fallback image of an APNG',
    'the resolution of Exif': NUMBERS,
    resolution: NUMBERS,
    primaries: NUMBERS,
    'the greatest luminance': NUMBERS,
    'the luminance of a mastering display': NUMBERS,
  },
  WebP: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'behind the last partition': CODED,
    'the resolution of Exif': NUMBERS,
  },
  AVIF: {
    'the description of a profile': PROFILE,
    'the copyright of a profile': PROFILE,
    'a private tag of a profile': PROFILE,
    'behind the last tile': CODED,
    'another picture of the file': OTHERS,
    'the luminance of a mastering display': NUMBERS,
    'the numbers of a tone map': NUMBERS,
    'the numbers of a sample transform': NUMBERS,
    'the colour behind an overlay': NUMBERS,
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
        assert.equal(holdsMarker(stored), place in named, 'comes back exactly if SECURITY.md says so')
        assert.ok((await scrub(stored)).whole, 'scrubbing it again changes nothing')
      })
    }

    test('what comes back is named, with its reason', () => {
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

test('fields of a byte or two, together a text, are written anew', async () => {
  const { padding, flags, plain, intervals, plainIntervals, adobe, plainAdobe } = await scatteredPlaces()
  for (const [planted, clean] of [
    [padding, plain],
    [flags, plain],
    [intervals, plainIntervals],
    [adobe, plainAdobe],
  ] as const) {
    assert.notDeepEqual(planted, clean)
    assert.deepEqual((await scrub(planted)).file, (await scrub(clean)).file)
    assert.deepEqual((await decoded(planted)).pixels, (await decoded((await scrub(planted)).file)).pixels)
  }
})

/** As it stands, or inflated. */
function holdsMarker(file: Buffer): boolean {
  if (file.includes(MARKER)) return true
  if (file[0] !== 0x89) return false
  return pngChunks(file).some(({ type, body }) => {
    if (type !== 'iCCP' && type !== 'IDAT') return false
    const zlib = type === 'iCCP' ? body.subarray(body.indexOf(0) + 2) : body
    return inflateSync(zlib).includes(MARKER)
  })
}
