/** The command against a real server. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { blobOf, cameraJpeg, drawing, GPS, photo, rgba } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { noTerminal, type Person, person } from './command.ts'

let server: RunningServer
let jpeg: Buffer

before(async () => {
  server = await startServer()
  jpeg = await cameraJpeg(320, 240)
})
after(() => server?.stop())

async function uploader(): Promise<Person> {
  const someone = await person({ PINHOLE_SERVER: server.url })
  await writeFile(join(someone.folder, 'photo.jpg'), jpeg)
  // Nothing to compress.
  await writeFile(join(someone.folder, 'small.gif'), gif())
  return someone
}

const rawOf = (link: string) => link.replace(/\/([0-9A-Za-z]+)$/, '/raw/$1')
const bytesOf = async (link: string) => {
  const response = await fetch(rawOf(link))
  return response.ok ? Buffer.from(await response.arrayBuffer()) : response.status
}

test('upload prints the link alone, keeps the key for its owner, and delete takes the link back', async () => {
  const me = await uploader()
  const { code, stdout, stderr } = await me.run(['upload', 'photo.jpg'])
  assert.deepEqual([code, stderr], [0, ''])
  const link = stdout.toString().trim()
  assert.equal(`${link}\n`, stdout.toString())
  assert.match(link, new RegExp(`^${server.baseUrl}/[0-9A-Za-z]{11}$`))
  const stored = (await bytesOf(link)) as Buffer
  assert.ok(stored.length < 0.6 * jpeg.length, `${stored.length} of ${jpeg.length}`)

  const folder = join(me.dataHome, 'pinhole/uploads')
  const [file, ...others] = await readdir(folder)
  assert.deepEqual(others, [])
  assert.equal((await stat(join(folder, file!))).mode & 0o777, 0o600)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)

  const list = (await me.run(['list'])).stdout.toString()
  assert.match(list, new RegExp(`${link}  [0-9A-Za-z]{43} .*photo\\.jpg\\n$`))
  const deleted = await me.run(['delete', link])
  assert.deepEqual([deleted.code, deleted.stdout.toString()], [0, `deleted ${link}\n`])
  assert.equal(await bytesOf(link), 404)
  assert.equal((await me.run(['list'])).stdout.toString(), '')
})

test('--expires asks for a lifetime, and a picture that expires stands for no later upload', async () => {
  const me = await uploader()
  const first = JSON.parse(
    (await me.run(['upload', '--expires', '1h', '--json', 'small.gif'])).stdout.toString(),
  )
  assert.ok(Math.abs(Date.parse(first.expires) - Date.now() - 3_600_000) < 300_000, first.expires)
  assert.match((await me.run(['list'])).stdout.toString(), /small\.gif {2}until \d{4}-\d\d-\d\d \d\d:\d\d\n$/)
  const stays = (await me.run(['upload', 'small.gif'])).stdout.toString().trim()
  assert.notEqual(stays, first.link)
  const again = (await me.run(['upload', '-e', '90', 'small.gif'])).stdout.toString().trim()
  assert.ok(again !== stays && again !== first.link)
  assert.equal((await me.run(['upload', 'small.gif'])).stdout.toString().trim(), stays)
  const refused = await me.run(['upload', '--expires', 'soon', 'small.gif'])
  assert.equal(refused.stdout.length, 0)
  assert.match(refused.stderr, /1h, 1d, 7d, 30d, or seconds/)
})

test('--json says everything, also to list', async () => {
  const me = await uploader()
  const { stdout } = await me.run(['upload', '--json', 'photo.jpg'])
  const answer = JSON.parse(stdout.toString())
  const { id, link, key, bytesOut, ...rest } = answer
  assert.equal(link, `${server.baseUrl}/${id}`)
  assert.match(key, /^[0-9A-Za-z]{43}$/)
  assert.equal(bytesOut, ((await bytesOf(link)) as Buffer).length)
  assert.deepEqual(rest, {
    file: 'photo.jpg',
    delete: `${server.baseUrl}/api/delete?key=${key}`,
    raw: `${server.baseUrl}/raw/${id}`,
    remaining: rest.remaining,
    bytesIn: jpeg.length,
    type: 'image/jpeg',
    action: 'lossy',
    hasLocation: false,
  })
  const entry = JSON.parse((await me.run(['list', '--json'])).stdout.toString())
  assert.deepEqual([entry.link, entry.key, entry.bytes, entry.name], [link, key, bytesOut, 'photo.jpg'])
  assert.equal((await me.run(['delete', key])).code, 0)
  assert.equal(await bytesOf(link), 404)
})

test('an image comes in by stdin, and --no-history forgets it', async () => {
  const me = await uploader()
  const image = gif()
  const { code, stdout } = await me.run(['upload', '--no-history', '-'], { stdin: image })
  assert.equal(code, 0)
  assert.deepEqual(await bytesOf(stdout.toString().trim()), image)
  assert.equal((await me.run(['list'])).stdout.length, 0)
})

test('globs and several files go in order; one that is refused spoils no other', async () => {
  const me = await uploader()
  await mkdir(join(me.folder, 'shots'))
  const images = { a: gif(), b: gif(), c: gif() }
  for (const [name, image] of Object.entries(images))
    await writeFile(join(me.folder, `shots/${name}.gif`), image)
  await writeFile(join(me.folder, 'notes.txt'), 'no image')
  const { code, stdout, stderr } = await me.run([
    'upload',
    '-j',
    '3',
    'notes.txt',
    'shots/*.gif',
    'missing.png',
    'shots',
  ])
  assert.equal(code, 3)
  const links = stdout.toString().trim().split('\n')
  assert.deepEqual(await Promise.all(links.map(bytesOf)), Object.values(images))
  const [notes, missing, folder] = stderr.trim().split('\n')
  assert.match(notes!, /^notes\.txt: This is not an image of a known type\. Accepted are JPEG, PNG/)
  assert.equal(missing, 'missing.png: There is no such file.')
  assert.match(folder!, /^shots: This is a folder\./)
})

test('on a terminal there are bars and a line about each file', { skip: noTerminal }, async () => {
  const me = await uploader()
  await writeFile(join(me.folder, 'screen.png'), await drawing().png().toBuffer())
  const { code, stdout } = await me.runOnTerminal(['upload', 'photo.jpg', 'screen.png'])
  const text = stdout.toString()
  assert.equal(code, 0)
  assert.match(text, /photo\.jpg +[█░]+ \d+% (looking|compressing|uploading|waiting|done)/)
  assert.match(text, /photo\.jpg: JPEG \d+ kB → \d+ kB \(−\d+ %\), recompressed/)
  assert.match(text, /screen\.png: PNG \d+ kB → (WebP )?\d+ kB \(−\d+ %\), identical pixels/)
  assert.equal(text.match(new RegExp(`${server.baseUrl}/[0-9A-Za-z]{11}`, 'g'))?.length, 2)
})

test('with stdout in a file, the terminal has the bars and the file the link alone', {
  skip: noTerminal,
}, async () => {
  const me = await uploader()
  const { code, stdout } = await me.runOnTerminal(['upload', 'photo.jpg'], '>links.txt')
  assert.equal(code, 0)
  assert.match(stdout.toString(), /photo\.jpg: JPEG/)
  assert.doesNotMatch(stdout.toString(), /http:/)
  assert.match(await readFile(join(me.folder, 'links.txt'), 'utf8'), /^http:\/\/\S+\n$/)
})

test('mode original sends the very bytes, and warns of a location', async () => {
  const me = await uploader()
  const located = await sharp(jpeg).withExif(GPS).jpeg().toBuffer()
  await writeFile(join(me.folder, 'holiday.jpg'), located)
  const original = await me.run(['upload', '--mode', 'original', '--json', 'holiday.jpg'])
  assert.match(original.stderr, /^holiday\.jpg: it says where it was taken/)
  assert.equal(JSON.parse(original.stdout.toString()).bytesOut, located.length)
  const usual = await me.run(['upload', '--json', 'holiday.jpg'])
  assert.equal(usual.stderr, '')
  assert.equal(JSON.parse(usual.stdout.toString()).hasLocation, true)
})

test('what the service refuses, what it does not know, and where it is not, each has its exit code', async () => {
  const me = await uploader()
  const strange = await me.run(['delete', `${server.baseUrl}/abcdefghijk`])
  assert.equal(strange.code, 3)
  assert.match(strange.stderr, /no key for it/)
  const unknown = await me.run(['delete', 'k'.repeat(43)])
  assert.equal(unknown.code, 4)
  assert.match(unknown.stderr, /pinhole list/)
  const nowhere = await me.run(['upload', '--retries', '0', '--server', 'http://127.0.0.1:9', 'small.gif'])
  assert.equal(nowhere.code, 5)
  assert.match(nowhere.stderr, /can't be reached.*Check the address/)
  assert.equal(nowhere.stdout.length, 0)
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

test('a used-up quota says when to come back', async (t) => {
  const small = await startServer({ UPLOADS_PER_DAY: '1' })
  t.after(() => small.stop())
  const me = await person({ PINHOLE_SERVER: small.url })
  await writeFile(join(me.folder, 'a.gif'), gif())
  assert.equal((await me.run(['upload', 'a.gif'])).code, 0)
  const { code, stderr } = await me.run(['upload', '--again', 'a.gif'])
  assert.equal(code, 4)
  assert.match(stderr, /^a\.gif: .*Try again after .*\d/)
  assert.equal((await me.run(['upload', 'a.gif'])).code, 0, 'it is there already')
})

test('Ctrl-C ends a waiting upload in good order', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  t.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const me = await uploader()
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const { code, stdout } = await me.run(['upload', '--server', server, 'small.gif'], {
    onStart: (child) => silent.once('request', () => child.kill('SIGINT')),
  })
  assert.equal(code, 130)
  assert.equal(stdout.length, 0)
})

test('Ctrl-C in the middle of several tells what was not sent, and the next run sends the rest', async () => {
  const me = await uploader()
  const names = ['a.gif', 'b.gif', 'c.gif', 'd.gif']
  for (const name of names) await writeFile(join(me.folder, name), gif())
  let interrupt = () => {}
  const proxy = await proxyTo(server.url, (count) => {
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
  assert.equal(first.stderr, 'Interrupted. Not sent:\n  b.gif\n  c.gif\n  d.gif\n')
  const told = (ran: typeof first) =>
    ran.stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  assert.deepEqual(
    told(first).map(({ file, error }) => [file, error]),
    [
      ['a.gif', undefined],
      ['b.gif', 'interrupted'],
      ['c.gif', 'interrupted'],
      ['d.gif', 'interrupted'],
    ],
  )
  const open = await proxyTo(server.url, () => true)
  // To another address nothing was sent yet.
  const second = await me.run(['upload', '--server', open, '--json', 'a.gif'])
  assert.equal(told(second)[0].known, undefined)
  const third = await me.run(['upload', '--server', open, '--json', 'a.gif', 'b.gif'])
  assert.deepEqual(
    told(third).map(({ file, known, link }) => [file, known ?? false, link === told(second)[0].link]),
    [
      ['a.gif', true, true],
      ['b.gif', false, false],
    ],
  )
  const again = await me.run(['upload', '--again', '--server', open, '--json', 'a.gif'])
  assert.equal(told(again)[0].known, undefined)
  const other = await me.run(['upload', '--mode', 'original', '--server', open, '--json', 'a.gif'])
  assert.equal(told(other)[0].known, undefined, 'another mode makes another picture')
})

test('pictures of a folder that the service does not take are told, and the others go', async () => {
  const me = await uploader()
  await mkdir(join(me.folder, 'phone'))
  await writeFile(join(me.folder, 'phone/a.gif'), gif())
  await writeFile(join(me.folder, 'phone/b.HEIC'), Buffer.from('....ftypheic........mif1heic', 'latin1'))
  await writeFile(join(me.folder, 'phone/c.txt'), 'no picture')
  const { code, stdout, stderr } = await me.run(['upload', '-r', 'phone'])
  assert.equal(code, 3)
  assert.equal(stdout.toString().trim().split('\n').length, 1)
  assert.match(stderr, /^phone\/b\.HEIC: .+\n$/)
})

test('an address needs no scheme', async () => {
  const me = await uploader()
  const { host } = new URL(server.url)
  assert.equal((await me.run(['upload', '-s', host, 'small.gif'])).code, 0)
  assert.equal((await me.run(['upload', '-s', `localhost:${server.port}`, 'small.gif'])).code, 0)
})

test('where no service is set, the command says how to choose one', async (t) => {
  const isTaken = await fetch('http://localhost:3000').then(
    () => true,
    () => false,
  )
  if (isTaken) return t.skip('does not apply: something answers at the default address')
  const nobody = await person()
  await writeFile(join(nobody.folder, 'a.gif'), gif())
  const { code, stderr } = await nobody.run(['upload', 'a.gif'])
  assert.equal(code, 5)
  assert.match(stderr, /No service is set.*pinhole use https:\/\/pics\.example/)
})

test('without a clipboard, --copy says so and the link is on stdout all the same', async () => {
  const me = await uploader()
  const { code, stdout, stderr } = await me.run(['upload', '--copy', 'small.gif'], {
    env: { PATH: '/nowhere', DISPLAY: '' },
  })
  assert.equal(code, 0)
  assert.match(stdout.toString(), /^http/)
  assert.match(stderr, /There is no clipboard/)
})

test('compress works offline, and shows what was done', async () => {
  const me = await uploader()
  const file = await me.run(['compress', 'photo.jpg', '-o', 'small.jpg'])
  assert.equal(file.code, 0)
  assert.match(file.stdout.toString(), /^photo\.jpg: JPEG \d+ kB → \d+ kB \(−\d+ %\), recompressed\n$/)
  const small = await stat(join(me.folder, 'small.jpg'))
  assert.ok(small.size < 0.6 * jpeg.length)

  const piped = await me.run(['compress', '-', '-o', '-'], { stdin: jpeg })
  assert.equal(piped.stdout.length, small.size)
  assert.match(piped.stderr, /^pinhole \d{4}-\d\d-\d\d at \d\d\.\d\d\.\d\d: JPEG/)

  const png = await sharp(await photo(640, 480, 60).png().toBuffer())
    .png()
    .toBuffer()
  await writeFile(join(me.folder, 'scan.png'), png)
  const exact = await me.run(['compress', 'scan.png', '--mode', 'keep-format', '-o', me.folder, '--json'])
  const { output, action } = JSON.parse(exact.stdout.toString())
  assert.deepEqual([output, action], [join(me.folder, 'scan.png'), 'lossless'])
  assert.equal(
    Buffer.compare((await rgba(await sharp(output).png().toBuffer())).data, (await rgba(blobOf(png))).data),
    0,
  )
})

/** Hands requests on to the service. `mayPass` is asked of each upload, with its number; one that may not is left waiting. */
async function proxyTo(url: string, mayPass: (count: number) => boolean): Promise<string> {
  let uploads = 0
  const proxy = createServer((request, response) => {
    if (request.method === 'POST' && !mayPass(++uploads)) return
    const { method, headers } = request
    request.pipe(
      httpRequest(new URL(request.url!, url), { method: method!, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      }),
    )
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}
