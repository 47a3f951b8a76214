/** Complete but inconsistent PNG, APNG and GIF files are refused. */
import { describe } from 'node:test'
import { deflateSync } from 'node:zlib'
import { apngOf, type Chunk, pngChunk, pngChunks, pngOf, withPngChunks } from '../support/chunks.ts'
import { pages, picture } from '../support/images/pictures.ts'
import { onePixelFrames } from '../support/images/png.ts'
import { refuseAll } from './subject.ts'

describe('PNG', async () => {
  const plain = await picture().png().toBuffer()
  const palette = await picture().png({ palette: true }).toBuffer()
  const chunks = pngChunks(plain)
  const [header, , end] = [chunks[0]!, 0, chunks.at(-1)!]
  const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ body }) => body))
  const withHeader = (at: number, value: number) => {
    const body = Buffer.from(header.body)
    body[at] = value
    return pngOf([pngChunk('IHDR', body), ...chunks.slice(1)])
  }
  const flipped = (type: string, file = plain) => {
    const copy = Buffer.from(file)
    copy[copy.indexOf(type) + 6]! ^= 1
    return copy
  }
  const idat = (body: Uint8Array) => pngChunk('IDAT', body)

  refuseAll({
    'a flipped bit in the picture': flipped('IDAT'),
    'a flipped bit in the header': flipped('IHDR'),
    'a flipped bit in the palette': flipped('PLTE', palette),
    'a wrong checksum at the end': Buffer.concat([plain.subarray(0, -1), Buffer.from([0])]),
    'an indexed-colour image without a palette': pngOf(
      pngChunks(palette).filter(({ type }) => type !== 'PLTE'),
    ),
    'two palettes': withPngChunks(palette, 'IDAT', pngChunk('PLTE', Buffer.alloc(3))),
    'a palette of half a colour': withPngChunks(plain, 'IDAT', pngChunk('PLTE', Buffer.alloc(4))),
    'a palette of too many colours': withPngChunks(plain, 'IDAT', pngChunk('PLTE', Buffer.alloc(3 * 257))),
    'a palette after the picture': withPngChunks(plain, 'IEND', pngChunk('PLTE', Buffer.alloc(3))),
    'IDAT chunks that are not consecutive': pngOf([
      header,
      idat(data.subarray(0, 50)),
      pngChunk('tEXt', 'a\0b'),
      idat(data.subarray(50)),
      end,
    ]),
    'no picture': pngOf([header, end]),
    'image data far too short for its header': pngOf([header, idat(data.subarray(0, 2)), end]),
    'image data that is not a zlib stream': pngOf([header, idat(Buffer.alloc(data.length, 7)), end]),
    'two headers': withPngChunks(plain, 'IDAT', header),
    'no header': pngOf(chunks.slice(1)),
    'an unknown critical chunk': withPngChunks(plain, 'IDAT', pngChunk('CgBI', Buffer.alloc(4))),
    'a chunk without a name': withPngChunks(plain, 'IDAT', pngChunk('a1cd', Buffer.alloc(4))),
    'a bit depth that does not exist': withHeader(8, 3),
    'a colour type that does not exist': withHeader(9, 5),
    'a bit depth that its colour type does not allow': withHeader(8, 4),
    'an unknown compression': withHeader(10, 1),
    'an unknown interlacing': withHeader(12, 2),
    'an IEND that is not empty': pngOf([...chunks.slice(0, -1), pngChunk('IEND', 'x')]),
  })
})

describe('APNG', async () => {
  const pictures = await pages(3, { channels: 3 })
  const animated = apngOf(pictures)
  const changed = (type: string, index: number, change: (body: Buffer) => void): Buffer => {
    let seen = 0
    return pngOf(
      pngChunks(animated).map((chunk) => {
        if (chunk.type !== type || seen++ !== index) return chunk
        const body = Buffer.from(chunk.body)
        change(body)
        return { type, body }
      }),
    )
  }
  const without = (type: string, index: number) => {
    let seen = 0
    return pngOf(pngChunks(animated).filter((chunk) => chunk.type !== type || seen++ !== index))
  }
  const changedData = (more: number) =>
    pngOf(
      pngChunks(animated).map(({ type, body }) =>
        type === 'fdAT' ? pngChunk(type, Buffer.concat([body, Buffer.alloc(more)])) : { type, body },
      ),
    )
  const tiny = deflateSync(Buffer.alloc(1))
  const twoColours = apngOf(
    await Promise.all([1, 2].map((seed) => picture({ seed }).png({ palette: true, colours: 2 }).toBuffer())),
  )

  refuseAll({
    'fewer frames than announced': changed('acTL', 0, (body) => body.writeUInt32BE(9)),
    'more frames than announced': changed('acTL', 0, (body) => body.writeUInt32BE(2)),
    'no frames announced': changed('acTL', 0, (body) => body.writeUInt32BE(0)),
    'numbers out of order': changed('fcTL', 1, (body) => body.writeUInt32BE(7)),
    'a frame outside the picture': changed('fcTL', 1, (body) => body.writeUInt32BE(10, 12)),
    'a frame without pixels': changed('fcTL', 1, (body) => body.writeUInt32BE(0, 4)),
    'a first frame that is smaller than the picture': changed('fcTL', 0, (body) => body.writeUInt32BE(5, 4)),
    'a disposal operation that does not exist': changed('fcTL', 2, (body) => body.writeUInt8(3, 24)),
    'frame data missing': without('fdAT', 0),
    'a frame header missing': without('fcTL', 1),
    'a one-bit frame without data': pngOf(
      pngChunks(twoColours).flatMap(({ type, body }) => {
        if (type === 'fdAT') return []
        if (type !== 'fcTL' || body.readUInt32BE() === 0) return { type, body }
        const dot = Buffer.from(body)
        dot.writeUInt32BE(1, 4)
        dot.writeUInt32BE(1, 8)
        return { type, body: dot }
      }),
    ),
    'thousands of frames of 16 megapixels': pngOf([
      pngChunk('IHDR', [0, 0, 0x10, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0]),
      pngChunk('acTL', [0, 0, 8, 0, 0, 0, 0, 0]),
      pngChunk('IDAT', deflateSync(Buffer.alloc(513 * 4096))),
      ...onePixelFrames(2048, tiny),
      pngChunk('IEND'),
    ]),
    'a frame with far more data than it can take': changedData(100_000),
    'two animations': withPngChunks(
      animated,
      'IDAT',
      pngChunks(animated).find(({ type }) => type === 'acTL') as Chunk,
    ),
    'a frame far too small for its header': pngOf(
      pngChunks(apngOf([await picture({ width: 2000, height: 1000 }).png().toBuffer(), pictures[0]!])).map(
        (chunk) =>
          chunk.type === 'fdAT' ? pngChunk('fdAT', Buffer.concat([chunk.body.subarray(0, 4), tiny])) : chunk,
      ),
    ),
  })
})

describe('GIF', async () => {
  const plain = await picture().gif().toBuffer()
  const image = plain.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]))
  const block = plain.subarray(image, -1)
  const second = (at: number, value: number) => {
    const moved = Buffer.from(block)
    moved.writeUInt16LE(value, at)
    return Buffer.concat([plain.subarray(0, -1), moved, Buffer.from([0x3b])])
  }
  const dot = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0])
  const screen = Buffer.from(plain.subarray(0, image))
  screen.writeUInt16LE(16_384, 6)
  screen.writeUInt16LE(16_384, 8)

  refuseAll({
    'a frame right of the picture': second(1, 1),
    'a frame below the picture': second(3, 1),
    'a frame wider than the picture': second(5, 54),
    'an LZW code size of more bits than a pixel has': Buffer.concat([
      plain.subarray(0, image + 10),
      Buffer.from([9]),
      plain.subarray(image + 11),
    ]),
    'thousands of one-pixel frames on a canvas of 256 megapixels': Buffer.concat([
      screen,
      ...new Array(2000).fill(dot),
      Buffer.from([0x3b]),
    ]),
    'no image': Buffer.concat([plain.subarray(0, image), Buffer.from([0x3b])]),
    'an image without data': Buffer.concat([plain.subarray(0, image + 10), Buffer.from([8, 0, 0x3b])]),
    'a block of an unknown kind': Buffer.concat([plain.subarray(0, -1), Buffer.from([0x55, 0x3b])]),
    'an LZW code size that does not exist': Buffer.concat([
      plain.subarray(0, image + 10),
      Buffer.from([60]),
      plain.subarray(image + 11),
    ]),
  })
})
