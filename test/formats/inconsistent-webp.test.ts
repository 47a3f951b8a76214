/** Inconsistent WebP files are refused. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { type Chunk, extendedWebp, webpBody, webpChunks, webpOf } from '../support/chunks.ts'
import { frames, picture } from '../support/images/pictures.ts'
import { refuseAll } from './subject.ts'

describe('WebP', async () => {
  const lossy = await picture().webp().toBuffer()
  const lossless = await picture({ channels: 4 }).webp({ lossless: true }).toBuffer()
  const alpha = await picture({ channels: 4 }).webp().toBuffer()
  const animated = await (await frames(3)).webp().toBuffer()
  const [vp8x, anim, ...shots] = webpChunks(animated)
  const shot = shots[0]!
  const dot = await picture({ width: 1, height: 1 }).webp({ lossless: true }).toBuffer()
  const size = { width: 53, height: 37 }
  const changed = (file: Buffer, at: number, value: number) => {
    const copy = Buffer.from(file)
    copy[at] = value
    return copy
  }
  const inFrame = (...chunks: Chunk[]) =>
    webpOf([
      vp8x!,
      anim!,
      { type: 'ANMF', body: Buffer.concat([shot.body.subarray(0, 16), webpBody(chunks)]) },
    ])
  const place = (at: number, value: number) =>
    webpOf([vp8x!, anim!, { type: 'ANMF', body: changed(shot.body, at, value) }])

  refuseAll({
    'a RIFF longer than the file': changed(lossy, 7, 1),
    'a chunk longer than the RIFF': changed(lossy, 18, 1),
    'a lossy picture that is not a key frame': changed(lossy, 20, lossy[20]! | 1),
    'a lossy picture without its start code': changed(lossy, 23, 0),
    'a lossy picture whose first partition exceeds its chunk': changed(lossy, 22, 0xff),
    'a lossless picture without its signature': changed(lossless, lossless.indexOf('VP8L') + 8, 0),
    'a lossless picture of an unknown version': changed(lossless, lossless.indexOf('VP8L') + 12, 0xff),
    'no picture': webpOf([{ type: 'ICCP', body: Buffer.alloc(8) }]),
    'an extended file without a picture': webpOf(extendedWebp(lossy, size, 0).slice(0, 1)),
    'a canvas whose size differs from that of the picture': webpOf(
      extendedWebp(lossy, { width: 54, height: 37 }, 0),
    ),
    'an extended header of a wrong length': webpOf([
      { type: 'VP8X', body: Buffer.alloc(12) },
      ...webpChunks(lossy),
    ]),
    'two alpha chunks': webpOf([webpChunks(alpha)[0]!, webpChunks(alpha)[1]!, ...webpChunks(alpha).slice(1)]),
    'an alpha chunk with a lossless picture': webpOf([
      webpChunks(alpha)[0]!,
      webpChunks(alpha)[1]!,
      ...webpChunks(lossless).filter(({ type }) => type === 'VP8L'),
    ]),
    'an alpha chunk with an unknown compression': webpOf(
      webpChunks(alpha).map(({ type, body }) =>
        type === 'ALPH'
          ? { type, body: Buffer.concat([Buffer.from([body[0]! | 3]), body.subarray(1)]) }
          : { type, body },
      ),
    ),
    'a thousand one-pixel frames on a canvas of 256 megapixels': webpOf([
      { type: 'VP8X', body: Buffer.from([2, 0, 0, 0, 0xff, 0x3f, 0, 0xff, 0x3f, 0]) },
      anim!,
      ...new Array(1000).fill({ type: 'ANMF', body: Buffer.concat([Buffer.alloc(16), dot.subarray(12)]) }),
    ]),
    'an animation without frames': webpOf([vp8x!, anim!]),
    'frames before the animation': webpOf([vp8x!, shot, anim!]),
    'frames in a still file': webpOf([...extendedWebp(lossy, size, 0), shot]),
    'a picture outside the frames of an animation': webpOf([vp8x!, anim!, ...webpChunks(lossy)]),
    'a frame outside the canvas': place(0, 1),
    'a frame whose picture has another size': place(6, 10),
    'a frame without a picture': inFrame({ type: 'PRVT', body: Buffer.alloc(4) }),
    'a frame shorter than its header': webpOf([vp8x!, anim!, { type: 'ANMF', body: Buffer.alloc(8) }]),
    'a truncated frame': webpOf([vp8x!, anim!, { type: 'ANMF', body: shot.body.subarray(0, -6) }]),
  })
})

test('the limit on chunks applies to the whole file, including all frames', async () => {
  const file = await (await frames(3, { width: 1, height: 1 })).webp({ lossless: true }).toBuffer()
  const junk = Buffer.alloc(100_000 * 8, Buffer.from('PRVT\0\0\0\0'))
  const withJunk = (frameCount: number) => {
    let left = frameCount
    return webpOf(
      webpChunks(file).map(({ type, body }) => ({
        type,
        body: type === 'ANMF' && left-- > 0 ? Buffer.concat([body, junk]) : body,
      })),
    )
  }
  assert.equal((await inspect(memorySource(withJunk(2)))).animated, true)
  await assert.rejects(inspect(memorySource(withJunk(3))), { code: 'damaged-image' })
})
