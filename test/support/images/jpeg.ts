/** JPEG files of every kind that sharp and `jpeg-coder.ts` can write, with and without private metadata. */
import sharp from 'sharp'
import { arithmeticJpeg, codeJpeg, segment, withSegments } from './jpeg-coder.ts'
import { type MadeImage, naming, picture } from './pictures.ts'
import { profiles } from './planted-profiles.ts'
import { c2paManifest, cameraExif, editorXmp, photoshopBlock } from './private-metadata.ts'

const named = naming('JPEG', 'image/jpeg')

const APP = (number: number) => 0xe0 + number
const COMMENT = 0xfe

export function exifSegment(tiff: Uint8Array): Buffer {
  return segment(APP(1), Buffer.from('Exif\0\0'), tiff)
}

export function xmpSegment(packet: Uint8Array): Buffer {
  return segment(APP(1), Buffer.from('http://ns.adobe.com/xap/1.0/\0'), packet)
}

export async function jpegs(): Promise<MadeImage[]> {
  const plain = await picture().jpeg().toBuffer()
  const { display } = await profiles()
  const progressive = await picture().jpeg({ progressive: true }).toBuffer()
  const clean: Record<string, Buffer> = {
    baseline: plain,
    '4:4:4': await picture().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer(),
    progressive,
    mozjpeg: await picture().jpeg({ mozjpeg: true }).toBuffer(),
    'standard tables': await picture().jpeg({ optimiseCoding: false, quality: 100 }).toBuffer(),
    'no tables': withoutSegments(await picture().jpeg({ optimiseCoding: false }).toBuffer(), 0xc4),
    'coarse tables': await picture().jpeg({ quality: 1 }).toBuffer(),
    grey: await picture({ channels: 1 }).jpeg().toBuffer(),
    CMYK: await picture().toColourspace('cmyk').jpeg().toBuffer(),
    'CMYK with profile': await picture().withIccProfile('cmyk').jpeg().toBuffer(),
    'wide gamut': await picture().withIccProfile('p3').jpeg().toBuffer(),
    'one pixel': await picture({ width: 1, height: 1 }).jpeg().toBuffer(),
    'long and thin': await picture({ width: 5000, height: 1 }).jpeg().toBuffer(),
    'several windows long': await picture({ width: 900, height: 700 }).jpeg({ quality: 98 }).toBuffer(),
    'flat colour': await sharp({ create: { width: 400, height: 300, channels: 3, background: '#369' } })
      .jpeg()
      .toBuffer(),
    'JFIF density': withSegments(plain, jfifSegment({ density: 300 })),
    'Adobe marker': withSegments(plain, segment(APP(14), Buffer.from('Adobe'), [0, 100, 0, 0, 0, 0, 1])),
    'restart markers': codeJpeg({ width: 90, height: 70, restartInterval: 3 }),
    'a restart for every unit': codeJpeg({ width: 90, height: 70, restartInterval: 1 }),
    'restarts in 4:2:0': codeJpeg({
      width: 67,
      height: 45,
      sampling: '2x2,1x1,1x1',
      restartInterval: 2,
    }),
    'separate scans': codeJpeg({
      width: 67,
      height: 45,
      sampling: '2x1,1x1,1x1',
      separateScans: true,
      restartInterval: 5,
    }),
    '4:1:1': codeJpeg({
      width: 67,
      height: 45,
      sampling: '4x1,1x1,1x1',
    }),
    'components of one ID': withOneId(plain),
    'components of one ID, 4:4:4': withOneId(await picture().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer()),
    'fill bytes': codeJpeg({ width: 40, height: 30, fillBytes: 3 }),
    arithmetic: arithmeticJpeg(),
  }
  const dirty: Record<string, Buffer> = {
    // Contains quantisation and AC tables, which lossless coding does not use.
    lossless: codeJpeg({ width: 40, height: 30, lossless: true }),
    comment: withSegments(plain, segment(COMMENT, Buffer.from('SECRET comment'))),
    'comment between scans': beforeLastScan(progressive, segment(COMMENT, Buffer.from('SECRET comment'))),
    'Exif between scans': beforeLastScan(
      progressive,
      exifSegment(cameraExif({ orientation: 6, location: false })),
    ),
    'two Exif': withSegments(
      plain,
      exifSegment(cameraExif({ orientation: 6, location: false })),
      exifSegment(cameraExif({ orientation: 3 })),
    ),
    XMP: withSegments(plain, xmpSegment(editorXmp())),
    'extended XMP': withSegments(
      plain,
      xmpSegment(editorXmp()),
      segment(
        APP(1),
        Buffer.from(`http://ns.adobe.com/xmp/extension/\0${'A'.repeat(32)}`),
        Buffer.alloc(9000, 'SECRET '),
      ),
    ),
    IPTC: withSegments(plain, segment(APP(13), photoshopBlock())),
    C2PA: withSegments(plain, segment(APP(11), Buffer.from('JP\0\x01\0\0\0\x01', 'latin1'), c2paManifest())),
    'JFIF thumbnail': withSegments(plain, jfifSegment({ density: 300, thumbnail: true })),
    'JFXX thumbnail': withSegments(
      plain,
      jfifSegment({}),
      segment(APP(0), Buffer.from('JFXX\0\x13\x02\x02', 'latin1'), Buffer.from('SECRET pixel')),
    ),
    'long Adobe marker': withSegments(
      plain,
      segment(APP(14), Buffer.from('Adobe'), [0, 100, 0, 0, 0, 0, 1], Buffer.from('SECRET')),
    ),
    'unknown segments': withSegments(
      plain,
      segment(APP(12), Buffer.from('Ducky SECRET')),
      segment(APP(15), Buffer.from('SECRET')),
    ),
    'bytes after the end': Buffer.concat([plain, Buffer.from('SECRET')]),
    'a video after the end': Buffer.concat([plain, Buffer.from('\0\0\0\x18ftypmp42SECRET', 'latin1')]),
    'Exif without orientation': withSegments(plain, exifSegment(cameraExif({ location: false }))),
    'Adobe RGB in Exif alone': withSegments(
      plain,
      exifSegment(cameraExif({ interoperability: 'R03', location: false })),
    ),
    'density in Exif alone': withSegments(plain, exifSegment(cameraExif({ density: 240, location: false }))),
    'a profile beside too short a chunk': withSegments(
      await picture().withIccProfile('p3').jpeg().toBuffer(),
      segment(APP(2), Buffer.from('ICC_PROFILE\0'), [1]),
    ),
    'the profile of a display in two segments': withSegments(
      plain,
      segment(APP(2), Buffer.from('ICC_PROFILE\0\x01\x02'), display.subarray(0, -4)),
      segment(APP(2), Buffer.from('ICC_PROFILE\0\x02\x02'), display.subarray(-4)),
    ),
    "sharp's Exif": await picture().withMetadata({ orientation: 6, density: 150 }).jpeg().toBuffer(),
    everything: Buffer.concat([
      withSegments(
        await picture().withIccProfile('p3').jpeg({ progressive: true }).toBuffer(),
        jfifSegment({ density: 300, thumbnail: true }),
        xmpSegment(editorXmp()),
        segment(APP(13), photoshopBlock()),
        segment(COMMENT, Buffer.from('SECRET comment')),
        segment(APP(11), Buffer.from('JP\0\x01\0\0\0\x01', 'latin1'), c2paManifest()),
        segment(APP(4), Buffer.alloc(60_000, 'SECRET ')),
      ),
      Buffer.from('SECRET'),
    ]),
  }
  const located: Record<string, Buffer> = {
    'XMP with a location': withSegments(plain, xmpSegment(editorXmp(true))),
  }
  for (let orientation = 1; orientation <= 8; orientation++) {
    located[`camera, orientation ${orientation}`] = withSegments(
      plain,
      exifSegment(cameraExif({ orientation, density: 72 })),
    )
  }
  return [
    ...named(clean, { clean: true }),
    ...named(dirty, { clean: false }),
    ...named(located, { clean: false, located: true }),
  ]
}

function jfifSegment({ density = 1, thumbnail = false }): Buffer {
  const size = thumbnail ? 8 : 0
  return segment(
    APP(0),
    Buffer.from('JFIF\0\x01\x02', 'latin1'),
    [density > 1 ? 1 : 0, density >> 8, density & 255, density >> 8, density & 255, size, size],
    Buffer.alloc(3 * size * size, 'SECRET '),
  )
}

/** Gives all three components the ID 1, as some old encoders did. */
function withOneId(file: Buffer): Buffer {
  const bytes = Buffer.from(file)
  const [frame, scan] = [0xc0, 0xda].map((marker) => bytes.indexOf(Buffer.of(0xff, marker)))
  for (let index = 0; index < 3; index++) bytes[frame! + 10 + 3 * index] = bytes[scan! + 5 + 2 * index] = 1
  return bytes
}

/** Removes the segments of a marker before the first scan. */
function withoutSegments(file: Buffer, marker: number): Buffer {
  const parts = [file.subarray(0, 2)]
  let at = 2
  for (; file[at + 1] !== 0xda; at += 2 + file.readUInt16BE(at + 2)) {
    if (file[at + 1] !== marker) parts.push(file.subarray(at, at + 2 + file.readUInt16BE(at + 2)))
  }
  return Buffer.concat([...parts, file.subarray(at)])
}

/** `file` with `more` inserted before its last scan. */
export function beforeLastScan(file: Buffer, more: Buffer): Buffer {
  const at = file.lastIndexOf(Buffer.from([0xff, 0xda]))
  return Buffer.concat([file.subarray(0, at), more, file.subarray(at)])
}
