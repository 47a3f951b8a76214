/** The command against a real server. */
import assert from 'node:assert/strict'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { GPS } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { until } from '../support/until.ts'
import { proxyTo } from './service.ts'
import * as site from './uploader.ts'

test('upload prints only the link and saves the key privately; delete deletes by link', async () => {
  const me = await site.uploader()
  const folder = join(me.dataHome, 'pinhole/uploads')
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const { code, stdout, stderr } = await me.run(['upload', 'photo.jpg'])
  assert.deepEqual([code, stderr], [0, ''])
  const link = stdout.trimEnd()
  assert.equal(`${link}\n`, stdout)
  assert.match(link, new RegExp(`^${site.server.baseUrl}/[0-9A-Za-z]{11}$`))
  const stored = (await site.bytesOf(link)) as Buffer
  assert.ok(stored.length < 0.6 * site.jpeg.length, `${stored.length} of ${site.jpeg.length}`)

  const [file, ...others] = await readdir(folder)
  assert.deepEqual(others, [])
  assert.equal((await stat(join(folder, file!))).mode & 0o777, 0o600)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)

  const list = (await me.run(['list'])).stdout
  assert.match(list, new RegExp(`${link}  [0-9A-Za-z]{43} .*photo\\.jpg\\n$`))
  const deleted = await me.run(['delete', link])
  assert.deepEqual([deleted.code, deleted.stdout], [0, `deleted ${link}\n`])
  assert.equal(await site.bytesOf(link), 404)
  assert.equal((await me.run(['list'])).stdout, '')
})

test('upload reads an image from stdin; --no-history saves nothing', async () => {
  const me = await site.uploader()
  const image = gif()
  const { code, stdout } = await me.run(['upload', '--no-history', '-'], { stdin: image })
  assert.equal(code, 0)
  assert.deepEqual(await site.bytesOf(stdout.trim()), image)
  assert.equal((await me.run(['list'])).stdout.length, 0)
})

test('upload sends several files and globs in order, and continues after a refused file', async () => {
  const me = await site.uploader()
  await mkdir(join(me.folder, 'shots'))
  const images = { a: gif(), b: gif(), c: gif() }
  for (const [name, image] of Object.entries(images))
    await writeFile(join(me.folder, `shots/${name}.gif`), image)
  await writeFile(join(me.folder, 'notes.txt'), 'no image')
  await writeFile(join(me.folder, 'other 1.gif'), gif())
  const absent = ['other (1).gif', 'other (1)*', 'other [1].gif', 'other [1]*', 'other {1}*']
  const words = ['upload', '-j', '3', 'notes.txt', 'shots/?.gif', ...absent, 'shots']
  const { code, lines, stderr } = await me.run(words)
  assert.equal(code, 3)
  assert.deepEqual(await Promise.all(lines.map(site.bytesOf)), Object.values(images))
  const [notes, ...others] = stderr.trim().split('\n')
  assert.match(notes!, /^notes\.txt: This is not an image of a known type\. Please use JPEG, PNG/)
  assert.match(others.pop()!, /^shots: This is a folder\./)
  assert.deepEqual(
    others,
    absent.map((name) => `${name}: File not found.`),
  )
})

test('mode original uploads the original bytes, and warns about a location', async () => {
  const me = await site.uploader()
  const located = await sharp(site.jpeg).withExif(GPS).jpeg().toBuffer()
  await writeFile(join(me.folder, 'holiday.jpg'), located)
  const original = await me.run(['upload', '--mode', 'original', '--json', 'holiday.jpg'])
  assert.match(original.stderr, /^holiday\.jpg: contains the location/)
  assert.equal(JSON.parse(original.stdout).bytesOut, located.length)
  const usual = await me.run(['upload', '--json', 'holiday.jpg'])
  assert.equal(usual.stderr, '')
  assert.equal(JSON.parse(usual.stdout).hasLocation, true)
})

test('delete takes a delete address without its scheme', async () => {
  const me = await site.uploader()
  for (const more of [[], ['--no-history']]) {
    const upload = JSON.parse((await me.run(['upload', 'small.gif', '--json', ...more])).stdout)
    const env = { PINHOLE_SERVER: 'http://127.0.0.1:9' }
    const deleted = await me.run(['delete', upload.delete.replace('http://', '')], { env })
    assert.deepEqual([deleted.code, deleted.stderr], [0, ''])
    assert.equal(await site.bytesOf(upload.link), 404)
  }
})

test('exit codes distinguish a missing key, a refusal, an unreachable service, and invalid usage', async () => {
  const me = await site.uploader()
  const withoutKey = await me.run(['delete', `${site.server.baseUrl}/abcdefghijk`])
  assert.equal(withoutKey.code, 3)
  assert.match(withoutKey.stderr, /No deletion key/)
  const unknown = await me.run(['delete', 'k'.repeat(43)])
  assert.equal(unknown.code, 4)
  assert.match(unknown.stderr, /pinhole list.*--prune/)
  // Fails before compressing anything, with one line.
  const nowhere = await me.run(['upload', '-s', 'http://127.0.0.1:9', 'photo.jpg', 'small.gif'])
  assert.deepEqual([nowhere.code, nowhere.stdout], [5, ''])
  assert.match(nowhere.stderr, /^pinhole: .*can't be reached.*Check your network.*\n$/)
  for (const words of [
    ['upload'],
    ['upload', '--mode', 'best', 'photo.jpg'],
    ['fly'],
    ['upload', '-j', '0', 'photo.jpg'],
    ['upload', '-s', 'pics', 'photo.jpg'],
  ]) {
    const { code, stderr, stdout } = await me.run(words)
    assert.equal(code, 2, words.join(' '))
    assert.ok(stderr.length > 0 && stdout.length === 0, words.join(' '))
  }
})

test('Ctrl-C lists the files that were not uploaded, and the next run uploads the rest', async () => {
  const me = await site.uploader()
  const names = ['a.gif', 'b.gif', 'c.gif', 'd.gif']
  for (const name of names) await writeFile(join(me.folder, name), gif())
  let interrupt = () => {}
  const proxy = await proxyTo(site.server.url, (count) => {
    if (count === 2) interrupt()
    return count < 2
  })
  const words = ['upload', '-j', '1', '--server', proxy, '--json', ...names]
  const first = await me.run(words, {
    onStart(child) {
      interrupt = () => child.kill('SIGINT')
    },
  })
  assert.equal(first.code, 130)
  assert.equal(first.stderr, 'Interrupted. Not uploaded:\n  b.gif\n  c.gif\n  d.gif\n')
  const reports = ({ lines }: typeof first) => lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    reports(first).map(({ file, error }) => [file, error]),
    [
      ['a.gif', undefined],
      ['b.gif', 'interrupted'],
      ['c.gif', 'interrupted'],
      ['d.gif', 'interrupted'],
    ],
  )
  const open = await proxyTo(site.server.url, () => true)
  // The history is per service address.
  const second = await me.run(['upload', '--server', open, '--json', 'a.gif'])
  assert.equal(reports(second)[0].known, undefined)
  const third = await me.run(['upload', '--server', open, '--json', 'a.gif', 'b.gif'])
  assert.deepEqual(
    reports(third).map(({ file, known, link }) => [file, known ?? false, link === reports(second)[0].link]),
    [
      ['a.gif', true, true],
      ['b.gif', false, false],
    ],
  )
  const again = await me.run(['upload', '--again', '--server', open, '--json', 'a.gif'])
  assert.equal(reports(again)[0].known, undefined)
  const other = await me.run(['upload', '--mode', 'original', '--server', open, '--json', 'a.gif'])
  assert.equal(reports(other)[0].known, undefined, 'another mode gives another image')
})

test('saves the key of each upload immediately, while another file is still uploading', async () => {
  const me = await site.uploader()
  const names = ['a.gif', 'b.gif', 'c.gif']
  for (const name of names) await writeFile(join(me.folder, name), gif())
  const areSaved = async () =>
    (await readdir(join(me.dataHome, 'pinhole/uploads')).catch(() => [])).length === 2
  const proxy = await proxyTo(site.server.url, (count) => count > 1)
  let saved: Promise<void> | undefined
  await me.run(['upload', '-j', '2', '--server', proxy, ...names], {
    onStart(child) {
      saved = until('two keys', areSaved).finally(() => child.kill('SIGKILL'))
    },
  })
  await saved
})
