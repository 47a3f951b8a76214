/** Files that reach their end but do not fit together, format by format. */
import { describe } from 'node:test'
import { deflateSync } from 'node:zlib'
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
  const whole = (file: Buffer, code: number) => {
    const at = marker(file, code)
    return [at, at + 2 + file.readUInt16BE(at + 2)] as const
  }
  const changed = (file: Buffer, at: number, value: number) => {
    const copy = Buffer.from(file)
    copy[at] = value
    return copy
  }
  const scanStart = whole(plain, 0xda)[1]
  const lastScan = scans.lastIndexOf(Buffer.from([0xff, 0xda]))

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
  refuseAll({
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
