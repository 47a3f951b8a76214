/** The command against a real server: lifetimes, terminals, interrupts, clipboard. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { blobOf, drawing, photoPng, rgba } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { succeeds } from '../support/processes/process.ts'
import { serverFor } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { newUser, noTerminal } from './command.ts'
import { proxyTo } from './service.ts'
import * as site from './uploader.ts'

test('--expires sets a lifetime, and an expiring upload is never reused for the same file', async () => {
  const me = await site.uploader()
  const first = JSON.parse((await me.run(['upload', '--expires', '1h', '--json', 'small.gif'])).stdout)
  assert.ok(Math.abs(Date.parse(first.expires) - Date.now() - 3_600_000) < 300_000, first.expires)
  assert.match((await me.run(['list'])).stdout, /small\.gif {2}until \d{4}-\d\d-\d\d \d\d:\d\d\n$/)
  const permanent = (await me.run(['upload', 'small.gif'])).stdout.trim()
  assert.notEqual(permanent, first.link)
  const again = (await me.run(['upload', '-e', '90', 'small.gif'])).stdout.trim()
  assert.ok(again !== permanent && again !== first.link)
  assert.equal((await me.run(['upload', 'small.gif'])).stdout.trim(), permanent)
  const refused = await me.run(['upload', '--expires', 'soon', 'small.gif'])
  assert.equal(refused.stdout.length, 0)
  assert.match(refused.stderr, /1h, 1d, 7d, 30d, or a whole number of seconds/)
})

test('upload --json and list --json print all fields', async () => {
  const me = await site.uploader()
  const { stdout } = await me.run(['upload', '--json', 'photo.jpg'])
  const answer = JSON.parse(stdout)
  const { id, link, key, bytesOut, ...rest } = answer
  assert.equal(link, `${site.server.baseUrl}/${id}`)
  assert.match(key, /^[0-9A-Za-z]{43}$/)
  assert.equal(bytesOut, ((await site.bytesOf(link)) as Buffer).length)
  assert.deepEqual(rest, {
    file: 'photo.jpg',
    delete: `${site.server.baseUrl}/api/delete?key=${key}`,
    raw: `${site.server.baseUrl}/raw/${id}`,
    remaining: rest.remaining,
    bytesIn: site.jpeg.length,
    type: 'image/jpeg',
    action: 'lossy',
    hasLocation: false,
  })
  const again = JSON.parse((await me.run(['upload', '--json', 'photo.jpg'])).stdout)
  assert.deepEqual(again, {
    file: 'photo.jpg',
    id,
    link,
    key,
    delete: rest.delete,
    raw: rest.raw,
    known: true,
  })
  const entry = JSON.parse((await me.run(['list', '--json'])).stdout)
  assert.deepEqual([entry.link, entry.key, entry.bytes, entry.name], [link, key, bytesOut, 'photo.jpg'])
  assert.equal((await me.run(['delete', key])).code, 0)
  assert.equal(await site.bytesOf(link), 404)
})

test('a large photograph is encoded quickly, unless it is only compressed', async () => {
  const me = await site.uploader()
  const large = await sharp(site.jpeg).resize(4000, 3000, { fit: 'fill' }).jpeg({ quality: 95 }).toBuffer()
  await writeFile(join(me.folder, 'large.jpg'), large)
  const { link } = JSON.parse((await me.run(['upload', '--json', 'large.jpg'])).stdout)
  // The best encoding is progressive.
  const stored = await sharp((await site.bytesOf(link)) as Buffer).metadata()
  assert.deepEqual([stored.width, stored.isProgressive], [4000, false])
  assert.equal((await me.run(['compress', 'large.jpg', '-o', 'best.jpg'])).code, 0)
  assert.equal((await sharp(join(me.folder, 'best.jpg')).metadata()).isProgressive, true)
})

test('shows progress bars and a line per file on a terminal', { skip: noTerminal }, async () => {
  const me = await site.uploader()
  await writeFile(join(me.folder, 'screen.png'), await drawing().png().toBuffer())
  const { code, stdout: text } = await me.runOnTerminal(['upload', 'photo.jpg', 'screen.png'])
  assert.equal(code, 0)
  assert.match(text, /photo\.jpg +[█░]+ \d+% (inspecting|compressing|uploading|waiting|done)/)
  assert.match(text, /photo\.jpg: JPEG \d+ kB → \d+ kB \(−\d+ %\), recompressed/)
  assert.match(text, /screen\.png: PNG \d+ kB → (WebP )?\d+ kB \(−\d+ %\), identical pixels/)
  assert.equal(text.match(new RegExp(`${site.server.baseUrl}/[0-9A-Za-z]{11}`, 'g'))?.length, 2)
})

test('shows progress on the terminal when stdout is a file, which gets only the link', {
  skip: noTerminal,
}, async () => {
  const me = await site.uploader()
  const { code, stdout } = await me.runOnTerminal(['upload', 'photo.jpg'], '>links.txt')
  assert.equal(code, 0)
  assert.match(stdout, /photo\.jpg: JPEG/)
  assert.doesNotMatch(stdout, /http:/)
  assert.match(await readFile(join(me.folder, 'links.txt'), 'utf8'), /^http:\/\/\S+\n$/)
})

test('uploads a file above the usual limit to a service that accepts it', async (t) => {
  const { url } = await serverFor(t, { MAX_UPLOAD_BYTES: '30000000' })
  const me = await site.uploader()
  const comment = Buffer.concat([Buffer.of(0xff, 0xfe, 0xff, 0xff), Buffer.alloc(65_533)])
  const [start, rest] = [site.jpeg.subarray(0, 2), site.jpeg.subarray(2)]
  await writeFile(join(me.folder, 'large.jpg'), Buffer.concat([start, ...Array(410).fill(comment), rest]))
  const words = ['upload', '--mode', 'original', 'large.jpg']
  assert.equal((await me.run([...words, '--server', url])).code, 0)
  const refused = await me.run(words)
  assert.equal(refused.code, 4)
  assert.match(refused.stderr, /limit of 26214400 bytes/)
})

test('says when to try again if the quota is exceeded', async (t) => {
  const small = await serverFor(t, { UPLOADS_PER_DAY: '1' })
  const me = await newUser({ PINHOLE_SERVER: small.url })
  await writeFile(join(me.folder, 'a.gif'), gif())
  assert.equal((await me.run(['upload', 'a.gif'])).code, 0)
  const { code, stderr } = await me.run(['upload', '--again', 'a.gif'])
  assert.equal(code, 4)
  assert.match(stderr, /^a\.gif: .*Try again after \d{4}-\d\d-\d\d \d\d:\d\d\.\n/)
  assert.equal((await me.run(['upload', 'a.gif'])).code, 0, 'already uploaded')
})

test('Ctrl-C after a complete upload still saves its link and key', async () => {
  const says = "process.on('SIGINT', () => process.stderr.write('interrupted'))"
  let interrupt = async () => {}
  const slow = await proxyTo(
    site.server.url,
    () => true,
    async () => {
      // The signal must arrive before the response.
      await interrupt()
    },
  )
  const me = await site.uploader()
  const { code, lines } = await me.run(['upload', '--server', slow, '--json', 'small.gif'], {
    onStart: (child) => {
      interrupt = async () => {
        child.kill('SIGINT')
        await once(child.stderr!, 'data')
      }
    },
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(says)}` },
  })
  const [{ id, key }] = lines.map((line) => JSON.parse(line))
  assert.equal(code, 130)
  assert.equal((await fetch(`${site.server.url}/raw/${id}`)).status, 200)
  assert.equal((await me.run(['delete', '--server', slow, key])).code, 0)
})

test('closing the terminal after a complete upload still saves its key', { skip: noTerminal }, async () => {
  let close = async () => {}
  const slow = await proxyTo(
    site.server.url,
    () => true,
    () => close(),
  )
  const me = await site.uploader()
  await me.runOnTerminal(['upload', '--server', slow, 'small.gif'], '', {
    onStart: (child) => {
      close = async () => {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    },
  })
  const folder = join(me.dataHome, 'pinhole/uploads')
  await until('the key is saved', async () => (await readdir(folder).catch(() => [])).length === 1)
})

test('-r reports files that are not accepted, and uploads the others', async () => {
  const me = await site.uploader()
  await mkdir(join(me.folder, 'phone'))
  await writeFile(join(me.folder, 'phone/a.gif'), gif())
  await writeFile(join(me.folder, 'phone/b.HEIC'), Buffer.from('....ftypheic........mif1heic', 'latin1'))
  await writeFile(join(me.folder, 'phone/c.txt'), 'no image')
  const { code, stdout, stderr } = await me.run(['upload', '-r', 'phone'])
  assert.equal(code, 3)
  assert.equal(stdout.trim().split('\n').length, 1)
  assert.match(stderr, /^phone\/b\.HEIC: .+\n$/)
})

test('accepts an address without a scheme or with a trailing slash, as the same service', async () => {
  const me = await site.uploader()
  const { host } = new URL(site.server.url)
  const { code, stdout } = await me.run(['upload', '-s', host, 'small.gif'])
  assert.equal(code, 0)
  assert.equal((await me.run(['upload', '-s', `${site.server.url}/`, 'small.gif'])).stdout, stdout)
  assert.equal((await me.run(['upload', '-s', `localhost:${site.server.port}`, 'small.gif'])).code, 0)
})

test('says how to set a service if none is set', async (t) => {
  const isTaken = await succeeds(fetch('http://localhost:3000'))
  if (isTaken) return t.skip('does not apply: something answers at the default address')
  const me = await newUser()
  await writeFile(join(me.folder, 'a.gif'), gif())
  const { code, stderr } = await me.run(['upload', 'a.gif'])
  assert.equal(code, 5)
  assert.match(stderr, /No service is set.*pinhole use https:\/\/pics\.example/)
})

test('--copy warns if there is no clipboard, and still prints the link', async () => {
  const me = await site.uploader()
  const { code, stdout, stderr } = await me.run(['upload', '--copy', 'small.gif'], {
    env: { PATH: '/nowhere', DISPLAY: '' },
  })
  assert.equal(code, 0)
  assert.match(stdout, /^http/)
  assert.match(stderr, /no clipboard found/)
})

test('compress works offline, and reports the result', async () => {
  const me = await site.uploader()
  const file = await me.run(['compress', 'photo.jpg', '-o', 'small.jpg'])
  assert.equal(file.code, 0)
  assert.match(file.stdout, /^photo\.jpg: JPEG \d+ kB → \d+ kB \(−\d+ %\), recompressed\n$/)
  const small = await stat(join(me.folder, 'small.jpg'))
  assert.ok(small.size < 0.6 * site.jpeg.length)

  const piped = await me.run(['compress', '-', '-o', '-'], { stdin: site.jpeg })
  assert.equal(piped.bytes.length, small.size)
  assert.match(piped.stderr, /^pinhole \d{4}-\d\d-\d\d at \d\d\.\d\d\.\d\d: JPEG/)

  const png = await photoPng()
  await writeFile(join(me.folder, 'scan.png'), png)
  const exact = await me.run(['compress', 'scan.png', '--mode', 'keep-format', '-o', me.folder, '--json'])
  const { output, action } = JSON.parse(exact.stdout)
  assert.deepEqual([output, action], [join(me.folder, 'scan.png'), 'lossless'])
  assert.equal(
    Buffer.compare((await rgba(await sharp(output).png().toBuffer())).data, (await rgba(blobOf(png))).data),
    0,
  )
})
