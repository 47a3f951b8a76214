/** Whatever comes in: a refusal, or a sound file without a location. Never a hang, never a crash. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import sharp from 'sharp'
import { compress } from '../../src/client/node.ts'
import { sourceOf } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { blobOf, cameraJpeg, GPS, noise, photo, pngChunks, pngOf, screenshot } from './pictures.ts'

async function endsWell(bytes: Uint8Array): Promise<void> {
  let result: Awaited<ReturnType<typeof compress>>
  try {
    result = await compress(blobOf(bytes))
  } catch (error) {
    assert.equal((error as Error).name, 'Refusal', `${(error as Error).stack}`)
    return
  }
  const out = await result.blob.bytes()
  const { type, width, height, hasLocation } = await inspect(sourceOf(out))
  assert.deepEqual([type, width, height], [result.type, result.width, result.height])
  assert.equal(hasLocation, false)
  assert.ok(out.length <= bytes.length || result.action === 'scrubbed')
}

test('files with bytes changed, runs copied, and ends cut', async () => {
  const base = await photo(96, 64).png().toBuffer()
  const originals = [
    await sharp(base).withExif(GPS).withIccProfile('p3').jpeg({ quality: 95 }).toBuffer(),
    await sharp(base).withExif(GPS).png().toBuffer(),
    await sharp(base).withExif(GPS).webp().toBuffer(),
  ]
  const hurt = fc
    .record({
      original: fc.constantFrom(...originals),
      edits: fc.array(
        fc.record({
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
        }),
        { maxLength: 6 },
      ),
      keep: fc.oneof(
        { weight: 4, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
      ),
    })
    .map(({ original, edits, keep }) => {
      const bytes = Buffer.from(original)
      for (const { at, bytes: edit } of edits) bytes.set(edit, Math.floor(at * (bytes.length - edit.length)))
      return bytes.subarray(0, Math.ceil(keep * bytes.length))
    })
  await fc.assert(fc.asyncProperty(hurt, endsWell), { numRuns: 150 })
})

test('a PNG whose pixels do not unpack is sent as it came, and it says why', async () => {
  const chunks = pngChunks(await screenshot(200, 100).png().toBuffer())
  const broken = pngOf(
    chunks.map(({ type, data }) =>
      type === 'IDAT' ? { type, data: Buffer.from(noise(data.length)) } : { type, data },
    ),
  )
  const outcome = await compress(blobOf(broken)).catch((error: Error) => error)
  if (outcome instanceof Error) assert.equal(outcome.name, 'Refusal')
  else assert.deepEqual([outcome.action, outcome.fallback], ['unchanged', 'codec-error'])
})

test('after a codec gave up, the next file is compressed as ever', async () => {
  const jpeg = await cameraJpeg(320, 240)
  const start = jpeg.indexOf(Buffer.from([0xff, 0xda]))
  const scrambled = Buffer.from(jpeg)
  for (let i = start + 40; i < jpeg.length - 40; i += 7)
    if (scrambled[i] !== 0xff && scrambled[i - 1] !== 0xff) scrambled[i] = 0x55
  await endsWell(scrambled)
  assert.equal((await compress(blobOf(jpeg))).action, 'lossy')
})

test('a small file of a huge picture is not unpacked', async () => {
  const header = Buffer.alloc(13)
  const [width, height] = [16_000, 16_000]
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const row = Buffer.alloc(1 + width * 3)
  const parts: Buffer[] = []
  for (let i = 0; i < 16; i++) parts.push(row)
  // One IDAT that is no whole stream is enough to ask the policy; the rest would be 768 MB of zeros.
  const idat = deflateSync(Buffer.concat(parts))
  const bomb = pngOf([
    { type: 'IHDR', data: header },
    { type: 'IDAT', data: idat },
    { type: 'IEND', data: Buffer.alloc(0) },
  ])
  const outcome = await compress(blobOf(bomb)).catch((error: Error) => error)
  if (outcome instanceof Error) assert.equal(outcome.name, 'Refusal')
  else assert.equal(outcome.fallback, 'too-many-pixels')
})
