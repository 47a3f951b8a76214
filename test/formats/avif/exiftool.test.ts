/** exiftool, which searches deeper than any viewer, finds no private tags after scrubbing, and reports no new warnings. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assemble, coded, grid, image, irot, noise, still } from '../../support/images/avif/assembly.ts'
import { box, bytes, fullBox, u16 } from '../../support/images/avif/boxes.ts'
import { C2PA_UUID, exif, SECRET, uuid, XMP_TYPE, XMP_UUID, xmp } from '../../support/images/avif/private.ts'
import { moov, track } from '../../support/images/avif/tracks-assembly.ts'
import { scrub } from '../subject.ts'
import { corpus } from './subject.ts'

/** Groups of technical tags in exiftool. Exif, GPS, XMP, JUMBF and user data have other groups. */
const OWN_GROUPS =
  /^(SourceFile|(ExifTool|System|File|QuickTime|Meta|Track\d|ICC_Profile|ICC-\w+|Composite):)/

type Tags = Record<string, unknown>

async function samples(): Promise<Record<string, Uint8Array>> {
  const picture = await coded(noise(64, 48))
  const metadata = [
    { id: 8, type: 'Exif', data: exif(true) },
    { id: 9, type: 'mime', contentType: XMP_TYPE, data: xmp('exif:GPSLatitude') },
  ]
  const references: [string, number, ...number[]][] = [
    ['cdsc', 8, 1],
    ['cdsc', 9, 1],
  ]
  const made: Record<string, Uint8Array> = {
    sharp: await noise(60, 40)
      .withIccProfile('p3')
      .withExif({ IFD0: { Make: SECRET }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
      .withXmp(new TextDecoder().decode(xmp('exif:UserComment')))
      .avif({ effort: 0 })
      .toBuffer(),
    still: still(picture, { items: metadata, references }),
    boxes: still(picture, {
      beforeData: [uuid(XMP_UUID, xmp('exif:UserComment'))],
      afterData: [uuid(C2PA_UUID, SECRET), box('junk', SECRET), bytes(SECRET)],
      metaExtras: [fullBox('xml ', 0, 0, `<a>${SECRET}</a>`)],
    }),
    grid: assemble({
      primary: 1,
      items: [
        { ...grid(1, [2, 1], [128, 48], irot(1)), inIdat: true },
        image(2, picture),
        image(3, picture),
        ...metadata,
      ],
      references: [['dimg', 1, 2, 3], ...references],
    }),
    sequence: still(picture, {
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
  for (const { name, file } of corpus()) made[name.replace('.avif', '').replace('/', ' ')] = file
  return made
}

function tagsOf(folder: string): Map<string, Tags> {
  const flags = ['-q', '-json', '-G1', '-a', '-U', '-ee', '-x', 'System:all', '-ext', 'avif', folder]
  const output = execFileSync('exiftool', flags, { maxBuffer: 2 ** 26 })
  const files = JSON.parse(output.toString()) as (Tags & { SourceFile: string })[]
  return new Map(files.map((tags) => [tags.SourceFile.slice(folder.length + 1), tags]))
}

const missing =
  spawnSync('exiftool', ['-ver']).error !== undefined &&
  !process.env.PINHOLE_CI &&
  'exiftool is not on this machine'

test('exiftool finds no private tags and reports no new warnings', { skip: missing }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'avif-exiftool-'))
  t.after(() => rmSync(root, { recursive: true }))
  const [before, after] = [mkdtempSync(join(root, 'before-')), mkdtempSync(join(root, 'after-'))]
  for (const [name, file] of Object.entries(await samples())) {
    writeFileSync(join(before, `${name}.avif`), file)
    writeFileSync(join(after, `${name}.avif`), (await scrub(file)).file)
  }
  const [seenBefore, seenAfter] = [tagsOf(before), tagsOf(after)]
  // Check that exiftool sees the private tags before scrubbing: otherwise the rest would prove nothing.
  for (const name of ['sharp', 'still', 'boxes', 'grid', 'sequence']) {
    assert.match(JSON.stringify(seenBefore.get(`${name}.avif`)), /SECRET/, name)
  }
  for (const name of ['sharp', 'still', 'grid', 'sequence']) {
    assert.match(JSON.stringify(seenBefore.get(`${name}.avif`)), /GPS/, name)
  }
  assert.deepEqual([...seenAfter.keys()].toSorted(), [...seenBefore.keys()].toSorted())
  for (const [name, tags] of seenAfter) {
    assert.deepEqual(
      Object.keys(tags).filter((tag) => !OWN_GROUPS.test(tag)),
      [],
      name,
    )
    assert.doesNotMatch(JSON.stringify(tags), /SECRET|GPS|Comment|UserData/, name)
    const dates = Object.entries(tags).filter(([tag]) => /^(QuickTime|Track\d):.*Date$/.test(tag))
    assert.deepEqual(
      dates.filter(([, value]) => value !== '0000:00:00 00:00:00'),
      [],
      name,
    )
    for (const kind of ['ExifTool:Warning', 'ExifTool:Error']) {
      assert.equal(
        tags[kind] === undefined || tags[kind] === seenBefore.get(name)![kind],
        true,
        `${name}: ${tags[kind]}`,
      )
    }
    for (const fact of [
      'File:ImageWidth',
      'File:ImageHeight',
      'QuickTime:Rotation',
      'ICC_Profile:ProfileDescription',
    ]) {
      assert.equal(tags[fact], seenBefore.get(name)![fact], `${name}: ${fact}`)
    }
  }
})
