/** exiftool finds private tags in the files before, and none after scrubbing. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { corpus, DAMAGED } from '../support/corpus.ts'
import { madeImages } from '../support/images/images.ts'
import { scrub } from './subject.ts'

const run = promisify(execFile)

/** Tags as named by `exiftool -G1` that describe only the image, not a person or a device. */
const HARMLESS = [
  /^(ExifTool|System|Composite|JFIF|ICC|ICC_Profile|ICC-\w+|PNG-pHYs|PNG-cICP|APNG|Adobe|RIFF|MPF\d*|MPImage\d)( |$)/,
  /^File (FileType|FileTypeExtension|MIMEType|Image(Width|Height)|EncodingProcess|BitsPerSample|ColorComponents|YCbCrSubSampling|ExifByteOrder)$/,
  /^IFD0 (Orientation|[XY]Resolution|ResolutionUnit)$/,
  /^PNG (Image(Width|Height)|BitDepth|ColorType|Compression|Filter|Interlace|Palette|Transparency|BackgroundColor|Gamma|SRGBRendering|SignificantBits|ProfileName|Animation\w+|White\w+|(Red|Green|Blue)[XY]|PaletteHistogram)$/,
  /^XMP-(hdrgm|Container|apdi|HDRGainMap) /,
  /^Apple (HDRHeadroom|HDRGain)$/,
  /^SourceFile$/,
]
const HARMFUL = /thumbnail|preview|comment|gps|trailer/i

type Tags = Record<string, unknown>

async function privateTags(folder: string): Promise<Map<string, string[]>> {
  const { stdout } = await run('exiftool', ['-json', '-G1', '-a', '-u', '-r', folder], { maxBuffer: 2 ** 28 })
  return new Map(
    (JSON.parse(stdout) as Tags[]).map((tags) => [
      basename(String(tags.SourceFile)),
      Object.keys(tags)
        .map((name) => name.replace(':', ' '))
        .filter((name) => HARMFUL.test(name) || !HARMLESS.some((pattern) => pattern.test(name))),
    ]),
  )
}

const hasExiftool = await run('exiftool', ['-ver']).then(
  () => true,
  () => false,
)
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pinhole-private-'))
})
after(() => rm(folder, { recursive: true }))

const skip = !hasExiftool && !process.env.PINHOLE_CI && 'exiftool is not on this machine'

test('exiftool finds nothing private in what is stored', { skip }, async (t) => {
  const extension = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/webp': 'webp' } as Record<
    string,
    string
  >
  const files = [
    ...(await madeImages()).filter(({ type }) => type !== 'image/gif'),
    ...corpus(/\.(jpe?g|png|webp)$/).filter(({ name }) => !DAMAGED.test(name)),
  ]
  const [sent, stored] = [join(folder, 'sent'), join(folder, 'stored')]
  await Promise.all([mkdir(sent), mkdir(stored)])
  const names: string[] = []
  for (const [index, { bytes }] of files.entries()) {
    const { file, type } = await scrub(bytes)
    const name = `${index}.${extension[type]}`
    names.push(name)
    await writeFile(join(sent, name), bytes)
    await writeFile(join(stored, name), file)
  }
  const [before, after] = [await privateTags(sent), await privateTags(stored)]
  assert.equal(after.size, files.length)
  for (const [index, name] of names.entries()) {
    assert.deepEqual(after.get(name), [], `${files[index]!.name} still has private tags`)
  }
  const exposed = [...before.values()].filter((tags) => tags.length > 0).length
  t.diagnostic(`${exposed} of ${files.length} files had private tags before, none after`)
  assert.ok(exposed > 50, 'exiftool sees the private tags before')
})
