/** JPEG files that are inconsistent, or too expensive to decode, are refused. */
import { describe, test } from 'node:test'
import { memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { codeJpeg, EOI, SOI, segment, withSegments } from '../support/images/jpeg-coder.ts'
import { picture } from '../support/images/pictures.ts'
import { refuseAll } from './subject.ts'

describe('JPEG', async () => {
  const plain = await picture({ width: 200, height: 150 }).jpeg().toBuffer()
  const progressive = await picture().jpeg({ progressive: true }).toBuffer()
  const restarts = codeJpeg({ width: 90, height: 70, restartInterval: 2 })
  const scans = codeJpeg({
    width: 67,
    height: 45,
    sampling: '1x1,1x1,1x1',
    separateScans: true,
  })
  const marker = (file: Buffer, code: number, from = 0) => file.indexOf(Buffer.from([0xff, code]), from)
  const without = (file: Buffer, from: number, to: number) =>
    Buffer.concat([file.subarray(0, from), file.subarray(to)])
  const segmentRange = (file: Buffer, code: number, from = 0) => {
    const at = marker(file, code, from)
    return [at, at + 2 + file.readUInt16BE(at + 2)] as const
  }
  const changed = (file: Buffer, at: number, value: number) => {
    const copy = Buffer.from(file)
    copy[at] = value
    return copy
  }
  const scanStart = segmentRange(plain, 0xda)[1]
  const flat = codeJpeg({ width: 20, height: 20 })
  const lossless = codeJpeg({ width: 20, height: 20, lossless: true })
  /** Offset of the last coefficient index in the second scan header. */
  const progressiveEnd = (file: Buffer) => segmentRange(file, 0xda, marker(file, 0xda) + 2)[1] - 2
  const large = Buffer.concat([
    plain.subarray(0, marker(plain, 0xc0)),
    segment(0xc2, [8, 12_500 >> 8, 12_500 & 255, 16_000 >> 8, 16_000 & 255, 1, 1, 0x11, 0]),
    plain.subarray(segmentRange(plain, 0xc0)[1], marker(plain, 0xda)),
    segment(0xda, [1, 1, 0, 0, 0, 0]),
    Buffer.alloc(400_000, 0x55),
    EOI,
  ])
  /** `file` with repeated scans of one component without any coefficients. */
  const refined = (file: Buffer, count: number) => {
    const scan = Buffer.concat([segment(0xda, [1, 1, 0, 1, 63, 0]), Buffer.from([0x7f])])
    return Buffer.concat([file.subarray(0, -2), ...new Array(count).fill(scan), EOI])
  }

  const lastScan = scans.lastIndexOf(Buffer.from([0xff, 0xda]))

  test('accepts as many scans as an image may need', async () => {
    for (const file of [refined(progressive, 200), refined(large, 30)]) await inspect(memorySource(file))
  })

  refuseAll({
    'an image with its middle cut out': without(plain, scanStart + 10, plain.length - 10),
    'no coded data': without(plain, scanStart, plain.length - 2),
    'a restart missing': without(restarts, marker(restarts, 0xd1), marker(restarts, 0xd2)),
    'restarts out of order': changed(restarts, marker(restarts, 0xd1) + 1, 0xd4),
    'restarts missing at the end': Buffer.concat([
      restarts.subarray(0, restarts.lastIndexOf(Buffer.from([0xff, 0xd3]))),
      EOI,
    ]),
    'a component that has no scan': without(scans, lastScan, scans.length - 2),
    'no quantisation table': without(plain, ...segmentRange(plain, 0xdb)),
    'no frame header': without(plain, ...segmentRange(plain, 0xc0)),
    'two frame headers': Buffer.concat([
      plain.subarray(0, scanStart),
      plain.subarray(...segmentRange(plain, 0xc0)),
      plain.subarray(scanStart),
    ]),
    'no scan': Buffer.concat([plain.subarray(0, marker(plain, 0xda)), EOI]),
    'a scan of an undefined component': changed(plain, marker(plain, 0xda) + 5, 99),
    'a sampling factor of zero': changed(plain, marker(plain, 0xc0) + 11, 0x01),
    'a truncated Huffman table': changed(plain, marker(plain, 0xc4) + 5, 200),
    'an image inside the image': withSegments(plain, SOI),
    'a segment shorter than its length field': withSegments(plain, Buffer.from([0xff, 0xe5, 0, 1])),
    'an unknown marker': withSegments(plain, segment(0xf3, [0])),
    'hierarchical coding': changed(plain, marker(plain, 0xc0) + 1, 0xc5),
    'too many segments': withSegments(plain, Buffer.alloc(4 * 5000, Buffer.from([0xff, 0xe5, 0, 2]))),
    'a sample precision that its coding does not allow': changed(plain, marker(plain, 0xc0) + 4, 12),
    'more blocks per MCU than decoders support': codeJpeg({
      width: 64,
      height: 64,
      sampling: '4x2,2x2',
    }),
    'a scan that names a component twice': Buffer.concat([
      plain.subarray(0, -2),
      segment(0xda, [2, 1, 0, 1, 0, 0, 63, 0]),
      Buffer.alloc(1000, 0x55),
      EOI,
    ]),
    'a scan with a table that does not exist': changed(plain, marker(plain, 0xda) + 6, 0x40),
    'an oversubscribed Huffman code': changed(
      changed(flat, marker(flat, 0xc4) + 5, 13),
      marker(flat, 0xc4) + 8,
      0,
    ),
    'a DC difference with too many bits': changed(plain, segmentRange(plain, 0xc4)[1] - 1, 17),
    'progressive coefficients that do not exist': changed(progressive, progressiveEnd(progressive), 64),
    'a progressive scan whose first coefficient is after its last': changed(
      progressive,
      progressiveEnd(progressive) - 1,
      60,
    ),
    'a progressive refinement that skips a bit': changed(progressive, progressiveEnd(progressive) + 1, 0x31),
    'a lossless predictor that does not exist': changed(
      lossless,
      lossless.indexOf(Buffer.from([0xff, 0xda])) + 2 + 2 + 1 + 2,
      8,
    ),
    'hundreds of scans': refined(progressive, 300),
    'dozens of scans of 200 megapixels': refined(large, 100),
    'a progressive image without its first DC scan': without(
      progressive,
      marker(progressive, 0xda),
      marker(progressive, 0xda, marker(progressive, 0xda) + 2),
    ),
  })
})
