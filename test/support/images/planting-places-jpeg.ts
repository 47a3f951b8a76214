/** JPEG files with the marker in known hiding places. */
import { withJpegProfile } from '../../../src/client/compress/jpeg-profile.ts'
import { beforeLastScan, exifSegment } from './jpeg.ts'
import { arithmeticJpeg, codeJpeg, EOI, segment, withSegments } from './jpeg-coder.ts'
import { picture } from './pictures.ts'
import { profiles } from './planted-profiles.ts'
import { MARKER } from './planting.ts'
import { tiff } from './private-metadata.ts'

const tiny = { width: 16, height: 16 }

export async function jpegPlaces(): Promise<Record<string, Uint8Array>> {
  const jpeg = Buffer.from(await picture(tiny).jpeg().toBuffer())
  const progressive = await picture(tiny).jpeg({ progressive: true }).toBuffer()
  const restarts = codeJpeg({ ...tiny, restartInterval: 1 })
  const { description, copyright, tag, display, calibrated } = await profiles()
  const before = (...segments: Uint8Array[]) => withSegments(jpeg, ...segments)
  const app = (marker: number, ...body: (string | Uint8Array)[]) =>
    segment(marker, ...body.map((part) => Buffer.from(part as string)))
  return {
    'the thumbnail of JFIF': before(app(0xe0, 'JFIF\0\x01\x01\0\0\x01\0\x01\x02\x02', MARKER, 'abcd')),
    JFXX: before(app(0xe0, 'JFXX\0\x10', MARKER)),
    'a segment in a COM': before(segment(0xfe, segment(0xe1, MARKER))),
    'Photoshop 3.0': before(app(0xed, 'Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x08', MARKER)),
    'the index of MPF': before(app(0xe2, 'MPF\0MM\0*\0\0\0\x08\0\0', MARKER)),
    'extended XMP': before(app(0xe1, 'http://ns.adobe.com/xmp/extension/\0', MARKER)),
    'an ISO 21496-1 segment without its gain map': before(app(0xe2, 'urn:iso:std:iso:ts:21496:-1\0', MARKER)),
    C2PA: before(app(0xeb, 'JP\0\x01\0\0\0\x01', MARKER)),
    'after a second EOI': Buffer.concat([jpeg, MARKER, EOI]),
    'between scans': beforeLastScan(progressive, segment(0xef, MARKER)),
    'a Huffman table that is redefined later': before(
      segment(0xc4, [0, 0, 0, 8, ...new Array(13).fill(0)], MARKER),
    ),
    'the maker note of Exif': before(
      exifSegment(tiff([], [{ pointer: 0x8769, entries: [{ tag: 0x927c, type: 7, value: [...MARKER] }] }])),
    ),
    'the resolution of Exif': before(
      exifSegment(tiff([{ tag: 0x011a, type: 5, value: [MARKER.readUInt32BE(), MARKER.readUInt32BE(4)] }])),
    ),
    'the description of a profile': withJpegProfile(jpeg, description),
    'the copyright of a profile': withJpegProfile(jpeg, copyright),
    'a private tag of a profile': withJpegProfile(jpeg, tag),
    'the display in a profile': withJpegProfile(jpeg, display),
    'the display in a large profile': withJpegProfile(jpeg, calibrated),
    'after the last block': Buffer.concat([jpeg.subarray(0, -2), MARKER, EOI]),
    'after the last block of a restart interval': Buffer.concat([
      restarts.subarray(0, restarts.indexOf(Buffer.from([0xff, 0xd0]))),
      MARKER,
      restarts.subarray(restarts.indexOf(Buffer.from([0xff, 0xd0]))),
    ]),
    'an excess restart': Buffer.concat([restarts.subarray(0, -2), Buffer.from([0xff, 0xd3]), MARKER, EOI]),
    'a restart in a scan without restarts': Buffer.concat([
      jpeg.subarray(0, -2),
      Buffer.from([0xff, 0xd0]),
      MARKER,
      EOI,
    ]),
    'codes that no block uses': codeJpegWith('codes'),
    'quantisation values that no block uses': codeJpegWith('quantisation'),
  }
}

/** The marker in restart intervals, two bytes each, which a last one replaces; and the file without it. */
export async function scatteredIntervals(): Promise<[planted: Buffer, clean: Buffer]> {
  const jpeg = await picture(tiny).jpeg().toBuffer()
  const pairs = [0, 2, 4, 6].map((at) => segment(0xdd, MARKER.subarray(at, at + 2)))
  const none = segment(0xdd, [0, 0])
  return [withSegments(jpeg, ...pairs, none), withSegments(jpeg, none)]
}

/** The marker in the version and flags of an Adobe segment; and the file without it. */
export async function scatteredAdobe(): Promise<[planted: Buffer, clean: Buffer]> {
  const clean = await picture(tiny).toColourspace('cmyk').jpeg().toBuffer()
  const planted = Buffer.from(clean)
  MARKER.copy(planted, planted.indexOf('Adobe') + 5, 0, 6)
  return [planted, clean]
}

/** Segments with a byte of the marker each, or six, which a last one of their kind replaces; and the files without it. */
export async function scatteredReplaced(): Promise<[planted: Buffer, clean: Buffer][]> {
  const jfif = (fields: Uint8Array) => segment(0xe0, Buffer.from('JFIF\0\x01'), fields, [0, 0])
  const adobe = (transform: number) => segment(0xee, Buffer.from('Adobe'), [0, 100, 0, 0, 0, 0, transform])
  const conditioning = (value: number) => segment(0xcc, [0x10, value])
  // Adobe's transform applies only without JFIF.
  const colour = codeJpeg({ ...tiny, sampling: '1x1,1x1,1x1' })
  const replaced = (file: Buffer, planted: Buffer[], last: Buffer): [planted: Buffer, clean: Buffer] => [
    withSegments(file, ...planted, last),
    withSegments(file, last),
  ]
  return [
    replaced(
      await picture(tiny).jpeg().toBuffer(),
      [jfif(MARKER.subarray(0, 6)), jfif(MARKER.subarray(2))],
      jfif(Uint8Array.of(2, 1, 0, 150, 0, 150)),
    ),
    replaced(colour, [...MARKER].map(adobe), adobe(0)),
    replaced(colour, [...MARKER].map(adobe), adobe(1)),
    replaced(arithmeticJpeg(), [...MARKER].map(conditioning), conditioning(9)),
  ]
}

/** Flat blocks have no AC coefficients, so most AC codes and quantisation values are unused. */
function codeJpegWith(place: 'codes' | 'quantisation'): Buffer {
  const file = codeJpeg(tiny)
  if (place === 'quantisation') {
    MARKER.copy(file, file.indexOf(Buffer.from([0xff, 0xdb])) + 20)
    return file
  }
  const at = file.indexOf(Buffer.from([0xff, 0xc4]))
  const length = 2 + file.readUInt16BE(at + 2)
  const codes = segment(
    0xc4,
    file.subarray(at + 4, at + 4 + 30),
    [0x10, 1, 0, 0, 8, ...new Array(12).fill(0), 0],
    MARKER,
  )
  return Buffer.concat([file.subarray(0, at), codes, file.subarray(at + length)])
}
