/** Files that reach their end but do not fit together, format by format. */
import { describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { sourceOf } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { apngOf, type Chunk, pngChunk, pngChunks, pngOf, withPngChunks } from '../support/chunks.ts'
import { codeJpeg, EOI, SOI, segment, withSegments } from '../support/images/jpeg-coder.ts'
import { picture } from '../support/images/pictures.ts'
import { refuseAll } from './refuse-all.ts'

describe('JPEG', async () => {
  const plain = await picture({ width: 200, height: 150 }).jpeg().toBuffer()
  const progressive = await picture().jpeg({ progressive: true }).toBuffer()
  const restarts = codeJpeg({ width: 90, height: 70, restartInterval: 2 })
  const scans = codeJpeg({
    width: 67,
    height: 45,
    sampling: [
      [1, 1],
      [1, 1],
      [1, 1],
    ],
    separateScans: true,
  })
  const marker = (file: Buffer, code: number, from = 0) => file.indexOf(Buffer.from([0xff, code]), from)
  const without = (file: Buffer, from: number, to: number) =>
    Buffer.concat([file.subarray(0, from), file.subarray(to)])
  const whole = (file: Buffer, code: number, from = 0) => {
    const at = marker(file, code, from)
    return [at, at + 2 + file.readUInt16BE(at + 2)] as const
  }
  const changed = (file: Buffer, at: number, value: number) => {
    const copy = Buffer.from(file)
    copy[at] = value
    return copy
  }
  const scanStart = whole(plain, 0xda)[1]
  const flat = codeJpeg({ width: 20, height: 20 })
  const lossless = codeJpeg({ width: 20, height: 20, lossless: true })
  /** Where the second scan says at which coefficient it ends. */
  const progressiveEnd = (file: Buffer) => whole(file, 0xda, marker(file, 0xda) + 2)[1] - 2
  const large = Buffer.concat([
    plain.subarray(0, marker(plain, 0xc0)),
    segment(0xc2, [8, 12_500 >> 8, 12_500 & 255, 16_000 >> 8, 16_000 & 255, 1, 1, 0x11, 0]),
    plain.subarray(whole(plain, 0xc0)[1], marker(plain, 0xda)),
    segment(0xda, [1, 1, 0, 0, 0, 0]),
    Buffer.alloc(400_000, 0x55),
    EOI,
  ])
  /** A scan of one component in which no block has a coefficient, again and again. */
  const refined = (file: Buffer, count: number) => {
    const scan = Buffer.concat([segment(0xda, [1, 1, 0, 1, 63, 0]), Buffer.from([0x7f])])
    return Buffer.concat([file.subarray(0, -2), ...new Array(count).fill(scan), EOI])
  }

  const lastScan = scans.lastIndexOf(Buffer.from([0xff, 0xda]))

  test('as many scans as a picture may need', async () => {
    for (const file of [refined(progressive, 200), refined(large, 30)]) await inspect(sourceOf(file))
  })

  refuseAll({
    'a picture cut down in the middle': without(plain, scanStart + 10, plain.length - 10),
    'no coded data': without(plain, scanStart, plain.length - 2),
    'a restart missing': without(restarts, marker(restarts, 0xd1), marker(restarts, 0xd2)),
    'restarts out of order': changed(restarts, marker(restarts, 0xd1) + 1, 0xd4),
    'restarts missing at the end': Buffer.concat([
      restarts.subarray(0, restarts.lastIndexOf(Buffer.from([0xff, 0xd3]))),
      EOI,
    ]),
    'a component without a scan': without(scans, lastScan, scans.length - 2),
    'no quantisation table': without(plain, ...whole(plain, 0xdb)),
    'no frame header': without(plain, ...whole(plain, 0xc0)),
    'two frame headers': Buffer.concat([
      plain.subarray(0, scanStart),
      plain.subarray(...whole(plain, 0xc0)),
      plain.subarray(scanStart),
    ]),
    'no scan': Buffer.concat([plain.subarray(0, marker(plain, 0xda)), EOI]),
    'a scan of a component that is not there': changed(plain, marker(plain, 0xda) + 5, 99),
    'a sampling factor of zero': changed(plain, marker(plain, 0xc0) + 11, 0x01),
    'a Huffman table cut short': changed(plain, marker(plain, 0xc4) + 5, 200),
    'stray bytes between segments': withSegments(plain, segment(0xe5, [0]), Buffer.from('stray')),
    'an image inside the image': withSegments(plain, SOI),
    'a segment shorter than its length field': withSegments(plain, Buffer.from([0xff, 0xe5, 0, 1])),
    'an unknown marker': withSegments(plain, segment(0xf3, [0])),
    'hierarchical coding': changed(plain, marker(plain, 0xc0) + 1, 0xc5),
    'too many segments': withSegments(plain, Buffer.alloc(4 * 5000, Buffer.from([0xff, 0xe5, 0, 2]))),
    'a sample precision that its coding does not have': changed(plain, marker(plain, 0xc0) + 4, 12),
    'more blocks in a coded unit than decoders hold': codeJpeg({
      width: 64,
      height: 64,
      sampling: [
        [4, 2],
        [2, 2],
      ],
    }),
    'a scan that names a component twice': Buffer.concat([
      plain.subarray(0, -2),
      segment(0xda, [2, 1, 0, 1, 0, 0, 63, 0]),
      Buffer.alloc(1000, 0x55),
      EOI,
    ]),
    'a scan with a table that does not exist': changed(plain, marker(plain, 0xda) + 6, 0x40),
    'more codes of a length than there are': changed(
      changed(flat, marker(flat, 0xc4) + 5, 13),
      marker(flat, 0xc4) + 8,
      0,
    ),
    'a difference of more bits than a sample has': changed(plain, whole(plain, 0xc4)[1] - 1, 17),
    'progressive coefficients that do not exist': changed(progressive, progressiveEnd(progressive), 64),
    'a progressive scan that begins behind its end': changed(
      progressive,
      progressiveEnd(progressive) - 1,
      60,
    ),
    'a progressive step that leaves out a bit': changed(progressive, progressiveEnd(progressive) + 1, 0x31),
    'a lossless predictor that does not exist': changed(
      lossless,
      lossless.indexOf(Buffer.from([0xff, 0xda])) + 2 + 2 + 1 + 2,
      8,
    ),
    'hundreds of scans': refined(progressive, 300),
    'dozens of scans of 200 megapixels': refined(large, 100),
    'a progressive picture without its rough scan': without(
      progressive,
      marker(progressive, 0xda),
      marker(progressive, 0xda, marker(progressive, 0xda) + 2),
    ),
  })
})

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
    'a palette picture without a palette': pngOf(pngChunks(palette).filter(({ type }) => type !== 'PLTE')),
    'two palettes': withPngChunks(palette, 'IDAT', pngChunk('PLTE', Buffer.alloc(3))),
    'a palette of half a colour': withPngChunks(plain, 'IDAT', pngChunk('PLTE', Buffer.alloc(4))),
    'a palette of too many colours': withPngChunks(plain, 'IDAT', pngChunk('PLTE', Buffer.alloc(3 * 257))),
    'a palette after the picture': withPngChunks(plain, 'IEND', pngChunk('PLTE', Buffer.alloc(3))),
    'a picture torn apart': pngOf([
      header,
      idat(data.subarray(0, 50)),
      pngChunk('tEXt', 'a\0b'),
      idat(data.subarray(50)),
      end,
    ]),
    'no picture': pngOf([header, end]),
    'a picture far too small for its header': pngOf([header, idat(data.subarray(0, 2)), end]),
    'a picture that is no zlib stream': pngOf([header, idat(Buffer.alloc(data.length, 7)), end]),
    'two headers': withPngChunks(plain, 'IDAT', header),
    'no header': pngOf(chunks.slice(1)),
    'an unknown critical chunk': withPngChunks(plain, 'IDAT', pngChunk('CgBI', Buffer.alloc(4))),
    'a chunk without a name': withPngChunks(plain, 'IDAT', pngChunk('a1cd', Buffer.alloc(4))),
    'a bit depth that does not exist': withHeader(8, 3),
    'a colour type that does not exist': withHeader(9, 5),
    'a bit depth that its colour type does not have': withHeader(8, 4),
    'an unknown compression': withHeader(10, 1),
    'an unknown interlacing': withHeader(12, 2),
    'an end that is no end': pngOf([...chunks.slice(0, -1), pngChunk('IEND', 'x')]),
  })
})

describe('APNG', async () => {
  const pages = await Promise.all([1, 2, 3].map((seed) => picture({ seed }).png().toBuffer()))
  const animated = apngOf(pages)
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
  const tiny = deflateSync(Buffer.alloc(1))
  const twoColours = apngOf(
    await Promise.all([1, 2].map((seed) => picture({ seed }).png({ palette: true, colours: 2 }).toBuffer())),
  )
  /** Frames of one pixel. */
  const dots = (count: number): Chunk[] =>
    Array.from({ length: count }, (_, index) => {
      const control = Buffer.alloc(26)
      control.writeUInt32BE(2 * index)
      control.writeUInt32BE(1, 4)
      control.writeUInt32BE(1, 8)
      const data = Buffer.alloc(4)
      data.writeUInt32BE(2 * index + 1)
      return [pngChunk('fcTL', control), pngChunk('fdAT', Buffer.concat([data, tiny]))]
    }).flat()

  refuseAll({
    'fewer frames than announced': changed('acTL', 0, (body) => body.writeUInt32BE(9)),
    'more frames than announced': changed('acTL', 0, (body) => body.writeUInt32BE(2)),
    'no frames announced': changed('acTL', 0, (body) => body.writeUInt32BE(0)),
    'numbers out of order': changed('fcTL', 1, (body) => body.writeUInt32BE(7)),
    'a frame outside the picture': changed('fcTL', 1, (body) => body.writeUInt32BE(10, 12)),
    'a frame without pixels': changed('fcTL', 1, (body) => body.writeUInt32BE(0, 4)),
    'a first frame that is smaller than the picture': changed('fcTL', 0, (body) => body.writeUInt32BE(5, 4)),
    'a way of disposal that does not exist': changed('fcTL', 2, (body) => body.writeUInt8(3, 24)),
    'frame data missing': without('fdAT', 0),
    'a frame header missing': without('fcTL', 1),
    'a frame of one bit without data': pngOf(
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
      ...dots(2048),
      pngChunk('IEND'),
    ]),
    'two animations': withPngChunks(
      animated,
      'IDAT',
      pngChunks(animated).find(({ type }) => type === 'acTL') as Chunk,
    ),
    'a frame far too small for its header': pngOf(
      pngChunks(apngOf([await picture({ width: 2000, height: 1000 }).png().toBuffer(), pages[0]!])).map(
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
    'code sizes of more bits than a pixel has': Buffer.concat([
      plain.subarray(0, image + 10),
      Buffer.from([9]),
      plain.subarray(image + 11),
    ]),
    'thousands of dots on a screen of 256 megapixels': Buffer.concat([
      screen,
      ...new Array(2000).fill(dot),
      Buffer.from([0x3b]),
    ]),
    'no image': Buffer.concat([plain.subarray(0, image), Buffer.from([0x3b])]),
    'an image without data': Buffer.concat([plain.subarray(0, image + 10), Buffer.from([8, 0, 0x3b])]),
    'a block of an unknown kind': Buffer.concat([plain.subarray(0, -1), Buffer.from([0x55, 0x3b])]),
    'a code size that does not exist': Buffer.concat([
      plain.subarray(0, image + 10),
      Buffer.from([60]),
      plain.subarray(image + 11),
    ]),
  })
})
