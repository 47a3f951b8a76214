/** exiftool, which searches deeper than any viewer, finds private tags before scrubbing, none after, and no new faults. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { corpus, DAMAGED } from '../support/corpus.ts'
import { folderOf } from '../support/folder.ts'
import { assemble, coded, grid, image, irot, noise, still } from '../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u16 } from '../support/images/avif/boxes.ts'
import { C2PA_UUID, exif, SECRET, uuid, XMP_TYPE, XMP_UUID, xmp } from '../support/images/avif/private.ts'
import { moov, track } from '../support/images/avif/tracks-assembly.ts'
import { madeImages } from '../support/images/images.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { scrub } from './subject.ts'

/** Tags as named by `exiftool -G1` that describe only the image, not a person or a device. */
const HARMLESS = [
  /^(ExifTool|System|Composite|JFIF|ICC|ICC_Profile|ICC-\w+|PNG-pHYs|PNG-cICP|APNG|Adobe|RIFF|MPF\d*|MPImage\d)( |$)/,
  /^(QuickTime|Meta|Track\d) /,
  /^File (FileType|FileTypeExtension|MIMEType|Image(Width|Height)|EncodingProcess|BitsPerSample|ColorComponents|YCbCrSubSampling|ExifByteOrder)$/,
  /^IFD0 (Orientation|[XY]Resolution|ResolutionUnit)$/,
  /^(ExifIFD ColorSpace|InteropIFD InteropIndex)$/,
  /^PNG (Image(Width|Height)|BitDepth|ColorType|Compression|Filter|Interlace|Palette|Transparency|BackgroundColor|Gamma|SRGBRendering|SignificantBits|ProfileName|Animation\w+|White\w+|(Red|Green|Blue)[XY]|PaletteHistogram)$/,
  /^XMP-(hdrgm|Container|apdi|HDRGainMap) /,
  /^Apple (HDRHeadroom|HDRGain)$/,
]
const HARMFUL = /thumbnail|preview(?!Time|Duration)|comment|gps|trailer|userdata/i

/** Tags that must be the same before and after. */
const KEPT = ['File ImageWidth', 'File ImageHeight', 'QuickTime Rotation', 'ICC_Profile ProfileDescription']
const COLOUR_SPACE = 'InteropIFD InteropIndex'

const run = promisify(execFile)

/** Values by tag, for each file. */
type Tags = Record<string, unknown>

async function tagsIn(folder: string): Promise<Map<string, Tags>> {
  const flags = ['-json', '-G1', '-a', '-u', '-ee', '-r', folder]
  const { stdout } = await run('exiftool', flags, { maxBuffer: 2 ** 28 })
  return new Map(
    (JSON.parse(stdout) as Tags[]).map(({ SourceFile, ...tags }) => [
      basename(String(SourceFile)),
      Object.fromEntries(Object.entries(tags).map(([name, value]) => [name.replace(':', ' '), value])),
    ]),
  )
}

function isPrivate(name: string): boolean {
  return HARMFUL.test(name) || !HARMLESS.some((pattern) => pattern.test(name))
}

/** AVIF files with private metadata wherever programs write it. */
async function avifs(): Promise<Record<string, Uint8Array>> {
  const picture = await coded(noise(64, 48))
  const metadata = [
    { id: 8, type: 'Exif', data: exif(true) },
    { id: 9, type: 'mime', contentType: XMP_TYPE, data: xmp('exif:GPSLatitude') },
  ]
  const references: [string, number, ...number[]][] = [
    ['cdsc', 8, 1],
    ['cdsc', 9, 1],
  ]
  return {
    'AVIF by sharp': await noise(60, 40)
      .withIccProfile('p3')
      .withExif({ IFD0: { Make: SECRET }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
      .withXmp(new TextDecoder().decode(xmp('exif:UserComment')))
      .avif({ effort: 0 })
      .toBuffer(),
    'AVIF, still': still(picture, { items: metadata, references }),
    'AVIF, boxes': still(picture, {
      beforeData: [uuid(XMP_UUID, xmp('exif:UserComment'))],
      afterData: [uuid(C2PA_UUID, SECRET), box('junk', SECRET), bytes(SECRET)],
      metaExtras: [fullBox('xml ', 0, 0, `<a>${SECRET}</a>`)],
    }),
    'AVIF, grid': assemble({
      primary: 1,
      items: [
        { ...grid(1, [2, 1], [128, 48], irot(1)), inIdat: true },
        image(2, picture),
        image(3, picture),
        ...metadata,
      ],
      references: [['dimg', 1, 2, 3], ...references],
    }),
    'AVIF, sequence': still(picture, {
      major: 'avis',
      brands: ['avis', 'avif'],
      items: metadata,
      references,
      blobs: [picture.data, picture.data],
      moov: (offsets) => {
        const samples = offsets.map((at) => ({ at, length: picture.data.length }))
        const userData = box(
          'udta',
          box('\u00a9xyz', u16(10, 0), '+51.5-0.1/'),
          box('\u00a9nam', u16(35, 0), SECRET),
        )
        return moov([track({ picture, samples, time: 0x70000000, extras: [userData] })], [userData])
      },
    }),
  }
}

test('exiftool finds nothing private in what is stored', {
  skip: await skipWithout('exiftool'),
}, async (t) => {
  const folder = await folderOf(t)
  const [sent, stored] = [join(folder, 'sent'), join(folder, 'stored')]
  await Promise.all([mkdir(sent), mkdir(stored)])
  const files = [
    ...(await madeImages()).filter(({ type }) => type !== 'image/gif'),
    ...corpus(/\.(jpe?g|png|webp|avif)$/).filter(({ name }) => !DAMAGED.test(name)),
    ...Object.entries(await avifs()).map(([name, bytes]) => ({ name, bytes })),
  ]
  for (const [index, { bytes }] of files.entries()) {
    const { file, type } = await scrub(bytes)
    const name = `${index}.${type.slice('image/'.length)}`
    await Promise.all([writeFile(join(sent, name), bytes), writeFile(join(stored, name), file)])
  }
  const [before, after] = [await tagsIn(sent), await tagsIn(stored)]
  assert.equal(after.size, files.length)
  let exposed = 0
  for (const [name, tags] of after) {
    const [file, tagsBefore] = [files[Number.parseInt(name, 10)]!.name, before.get(name)!]
    const isExposed = Object.keys(tagsBefore).some(isPrivate)
    if (isExposed) exposed++
    // Otherwise the rest would prove nothing.
    else assert.ok(!file.startsWith('AVIF'), `exiftool sees no private tags in ${file}`)
    assert.deepEqual(Object.keys(tags).filter(isPrivate), [], `${file} still has private tags`)
    assert.doesNotMatch(JSON.stringify(tags), /SECRET/, file)
    for (const [tag, value] of Object.entries(tags))
      if (/^(QuickTime|Track\d) .*Date$/.test(tag))
        assert.equal(value, '0000:00:00 00:00:00', `${file}: ${tag}`)
    for (const fault of ['ExifTool Warning', 'ExifTool Error'])
      assert.ok(tags[fault] === undefined || tags[fault] === tagsBefore[fault], `${file}: ${tags[fault]}`)
    for (const tag of KEPT) assert.equal(tags[tag], tagsBefore[tag], `${file}: ${tag}`)
    // Only Adobe RGB, and only in a JPEG, is said by these fields alone.
    const isAdobeRgb = /^R03/.test(String(tagsBefore[COLOUR_SPACE])) && tags['File FileType'] === 'JPEG'
    assert.equal(tags[COLOUR_SPACE], isAdobeRgb ? tagsBefore[COLOUR_SPACE] : undefined, file)
  }
  t.diagnostic(`${exposed} of ${files.length} files had private tags before, none after`)
  assert.ok(exposed > 50)
})
