/** Removal of private metadata from uploads. */
import assert from 'node:assert/strict'
import sharp, { type Sharp } from 'sharp'
import { gif } from '../../support/images/tiny-images.ts'
import { sha256Of } from '../../support/sha256.ts'
import { visitsTo, type World } from './host.ts'

const OWNER = 'Ada Photographer'
const CAMERA = 'Testflex 3000'

/** Displayed upright at 40 x 30 pixels, stored rotated by 90 degrees. */
function privatePicture(): Sharp {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
  return sharp({ create: { width: 30, height: 40, channels: 3, background: '#000', noise } })
    .withMetadata({ orientation: 6, density: 300, icc: 'p3' })
    .withExifMerge({
      IFD0: { Copyright: OWNER, Model: CAMERA },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '51/1 30/1 0/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '0/1 7/1 0/1',
      },
    })
    .withXmp(
      `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:creator="${OWNER}"/></rdf:RDF></x:xmpmeta>`,
    )
}

const FORMATS = ['jpeg', 'png', 'webp', 'avif'] as const

export function metadataCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const onStrict = visitsTo(world, world.strict)

  for (const format of FORMATS) {
    onMain(`removes owner, device and location from ${format} and keeps every pixel`, async (me) => {
      const sent = await privatePicture().toFormat(format).toBuffer()
      assert.ok(sent.includes(OWNER) && sent.includes(CAMERA), 'the test image contains private metadata')
      const { id } = await me.store(sent)
      const raw = await me.get(`/raw/${id}`)
      const stored = raw.body
      assert.equal(raw.headers.get('ETag'), `"${sha256Of(stored)}"`, 'the ETag is that of the stored bytes')
      for (const secret of [OWNER, CAMERA, 'GPS', 'xmpmeta']) assert.ok(!stored.includes(secret), secret)
      const [before, after] = [await sharp(sent).metadata(), await sharp(stored).metadata()]
      assert.equal(after.format, before.format)
      assert.deepEqual(await pixels(stored), await pixels(sent))
      assert.deepEqual(after.autoOrient, before.autoOrient)
      assert.deepEqual(after.icc, before.icc)
      assert.equal(after.xmp, undefined)
    })

    onMain(`drops data after the end of ${format}`, async (me) => {
      const plain = sharp({ create: { width: 9, height: 7, channels: 3, background: '#a50' } })
      const image = await plain.toFormat(format).toBuffer()
      const tail = Buffer.from('PK\x03\x04 hidden behind the picture')
      const { id } = await me.store(Buffer.concat([image, tail]))
      assert.deepEqual((await me.get(`/raw/${id}`)).body, image)
    })
  }

  onMain('stores GIF byte for byte, including comments and trailing data', async (me) => {
    const bytes = Buffer.concat([gif({ comment: `made by ${OWNER}` }), Buffer.from('after the end')])
    const { id } = await me.store(bytes)
    const raw = await me.get(`/raw/${id}`)
    assert.deepEqual(raw.body, bytes)
    assert.equal(raw.headers.get('Content-Type'), 'image/gif')
  })

  onStrict('keeps every byte with STRIP_METADATA=off', async (me) => {
    const bytes = await privatePicture().jpeg({ quality: 10 }).toBuffer()
    assert.ok(bytes.includes(OWNER))
    const { id } = await me.store(bytes)
    assert.deepEqual((await me.get(`/raw/${id}`)).body, bytes)
  })
}

async function pixels(bytes: Buffer): Promise<Buffer> {
  return sharp(bytes).raw().toBuffer()
}
