/** The command against a real server. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { ID_LENGTH, type Problem } from '../../src/protocol.ts'
import { GPS } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { listening } from '../support/listen.ts'
import { breakLedger } from '../support/processes/broken-ledger.ts'
import { startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { person } from './command.ts'
import { uploads } from './uploader.ts'

const site = uploads()

test('upload prints the link alone, keeps the key for its owner, and delete takes the link back', async () => {
  const me = await site.uploader()
  const { code, stdout, stderr } = await me.run(['upload', 'photo.jpg'])
  assert.deepEqual([code, stderr], [0, ''])
  const link = stdout.trimEnd()
  assert.equal(`${link}\n`, stdout)
  assert.match(link, new RegExp(`^${site.server.baseUrl}/[0-9A-Za-z]{11}$`))
  const stored = (await site.bytesOf(link)) as Buffer
  assert.ok(stored.length < 0.6 * site.jpeg.length, `${stored.length} of ${site.jpeg.length}`)

  const folder = join(me.dataHome, 'pinhole/uploads')
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

test('an image comes in by stdin, and --no-history forgets it', async () => {
  const me = await site.uploader()
  const image = gif()
  const { code, stdout } = await me.run(['upload', '--no-history', '-'], { stdin: image })
  assert.equal(code, 0)
  assert.deepEqual(await site.bytesOf(stdout.trim()), image)
  assert.equal((await me.run(['list'])).stdout.length, 0)
})

test('globs and several files go in order; one that is refused spoils no other', async () => {
  const me = await site.uploader()
  await mkdir(join(me.folder, 'shots'))
  const images = { a: gif(), b: gif(), c: gif() }
  for (const [name, image] of Object.entries(images))
    await writeFile(join(me.folder, `shots/${name}.gif`), image)
  await writeFile(join(me.folder, 'notes.txt'), 'no image')
  const words = ['upload', '-j', '3', 'notes.txt', 'shots/*.gif', 'missing.png', 'shots']
  const { code, lines, stderr } = await me.run(words)
  assert.equal(code, 3)
  assert.deepEqual(await Promise.all(lines.map(site.bytesOf)), Object.values(images))
  const [notes, missing, folder] = stderr.trim().split('\n')
  assert.match(notes!, /^notes\.txt: This is not an image of a known type\. Accepted are JPEG, PNG/)
  assert.equal(missing, 'missing.png: There is no such file.')
  assert.match(folder!, /^shots: This is a folder\./)
})

test('mode original sends the very bytes, and warns of a location', async () => {
  const me = await site.uploader()
  const located = await sharp(site.jpeg).withExif(GPS).jpeg().toBuffer()
  await writeFile(join(me.folder, 'holiday.jpg'), located)
  const original = await me.run(['upload', '--mode', 'original', '--json', 'holiday.jpg'])
  assert.match(original.stderr, /^holiday\.jpg: it says where it was taken/)
  assert.equal(JSON.parse(original.stdout).bytesOut, located.length)
  const usual = await me.run(['upload', '--json', 'holiday.jpg'])
  assert.equal(usual.stderr, '')
  assert.equal(JSON.parse(usual.stdout).hasLocation, true)
})

test('what the service refuses, what it does not know, and where it is not, each has its exit code', async () => {
  const me = await site.uploader()
  const strange = await me.run(['delete', `${site.server.baseUrl}/abcdefghijk`])
  assert.equal(strange.code, 3)
  assert.match(strange.stderr, /no key for it/)
  const unknown = await me.run(['delete', 'k'.repeat(43)])
  assert.equal(unknown.code, 4)
  assert.match(unknown.stderr, /pinhole list/)
  // Before anything is compressed, in one line.
  const nowhere = await me.run(['upload', '-s', 'http://127.0.0.1:9', 'photo.jpg', 'small.gif'])
  assert.deepEqual([nowhere.code, nowhere.stdout], [5, ''])
  assert.match(nowhere.stderr, /^pinhole: .*can't be reached.*Check the address.*\n$/)
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

test('Ctrl-C in the middle of several tells what was not sent, and the next run sends the rest', async () => {
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
  assert.equal(first.stderr, 'Interrupted. Not sent:\n  b.gif\n  c.gif\n  d.gif\n')
  const told = ({ lines }: typeof first) => lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    told(first).map(({ file, error }) => [file, error]),
    [
      ['a.gif', undefined],
      ['b.gif', 'interrupted'],
      ['c.gif', 'interrupted'],
      ['d.gif', 'interrupted'],
    ],
  )
  const open = await proxyTo(site.server.url, () => true)
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

test('the keys of uploads are kept at once, while another file is still on its way', async () => {
  const me = await site.uploader()
  const names = ['a.gif', 'b.gif', 'c.gif']
  for (const name of names) await writeFile(join(me.folder, name), gif())
  const isKept = async () =>
    (await readdir(join(me.dataHome, 'pinhole/uploads')).catch(() => [])).length === 2
  const proxy = await proxyTo(site.server.url, (count) => count > 1)
  let kept: Promise<void> | undefined
  await me.run(['upload', '-j', '2', '--server', proxy, ...names], {
    onStart(child) {
      kept = until('two keys', isKept).finally(() => child.kill('SIGKILL'))
    },
  })
  await kept
})

test('a file whose link leads nowhere any more is uploaded again', async () => {
  const me = await site.uploader()
  const first = JSON.parse((await me.run(['--json', 'small.gif'])).stdout)
  assert.equal((await me.run(['small.gif'])).stdout.trim(), first.link)
  assert.equal((await fetch(first.delete, { method: 'DELETE' })).status, 200)
  const link = (await me.run(['small.gif'])).stdout.trim()
  assert.ok(Buffer.isBuffer(await site.bytesOf(link)), link)
  assert.equal((await me.run(['small.gif'])).stdout.trim(), link)
})

test('-r takes the pictures of a folder that is above, or hidden itself, and none of hidden folders in it', async () => {
  const me = await site.uploader()
  await mkdir(join(me.folder, '.shots/.trash'), { recursive: true })
  for (const name of ['.shots/a.gif', '.shots/.trash/b.gif']) await writeFile(join(me.folder, name), gif())
  const cases = [`${me.folder}/.shots`, './.shots', `../${basename(me.folder)}/.shots`]
  for (const word of cases) {
    const { lines, stderr } = await me.run(['upload', '--again', '-r', word])
    assert.deepEqual([lines.length, stderr], [1, ''], word)
  }
})

test('a folder that can’t be read is told of, and keeps no other picture back', async () => {
  const me = await site.uploader()
  await mkdir(join(me.folder, 'trip'))
  await writeFile(join(me.folder, 'trip/a.gif'), gif())
  // Root may read everything but what lies deeper than a path is long.
  const script = `for (let n = 0; n < 20; n++) { fs.mkdirSync('d'.repeat(250)); process.chdir('d'.repeat(250)) }`
  const cwd = join(me.folder, 'trip')
  execFileSync(process.execPath, ['-e', script], { cwd })
  try {
    const { code, lines, stderr } = await me.run(['upload', '-r', 'trip'])
    assert.deepEqual([code, lines.length], [3, 1])
    assert.match(stderr, /can't be read \(ENAMETOOLONG\)/)
  } finally {
    // Node's own way would need the path.
    execFileSync('rm', ['-rf', cwd])
  }
})

test('a reader that has seen enough stops no upload', async () => {
  const me = await site.uploader()
  const names = ['a.gif', 'b.gif', 'c.gif']
  for (const name of names) await writeFile(join(me.folder, name), gif())
  const { code } = await me.run(['upload', '-j', '1', ...names], {
    onStart: ({ stdout }) => stdout!.once('data', () => stdout!.destroy()),
  })
  assert.equal(code, 0)
  assert.equal((await readdir(join(me.dataHome, 'pinhole/uploads'))).length, 3)
})

/** Hands requests on to the service. `mayPass` is asked of each upload, with its number; one that may not is left waiting. */
async function proxyTo(site: string, mayPass: (count: number) => boolean): Promise<string> {
  let uploads = 0
  const { url } = await listening((request, response) => {
    if (request.method === 'POST' && !mayPass(++uploads)) return
    const { method, headers } = request
    request.pipe(
      httpRequest(new URL(request.url!, site), { method: method!, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      }),
    )
  })
  return url
}

test('list --prune forgets only what the service itself says is gone', async () => {
  const me = await site.uploader()
  await me.run(['upload', 'photo.jpg'])
  let [type, error] = ['text/html', 'not-found']
  const other = await listening((_, response) => {
    response.writeHead(404, { 'Content-Type': type }).end(JSON.stringify({ error }))
  })
  const folder = join(me.dataHome, 'pinhole/uploads')
  const file = join(folder, (await readdir(folder))[0]!)
  const entry = await readFile(file, 'utf8')
  await writeFile(file, entry.replaceAll(site.server.baseUrl, other.url))
  const pruned = async () => (await me.run(['list', '--prune'])).stdout

  assert.equal(await pruned(), '')
  type = 'application/problem+json; charset=utf-8'
  error = 'held'
  assert.equal(await pruned(), '')
  error = 'not-found'
  assert.match(await pruned(), /^forgot http/)
})

test('list --prune keeps the key of a held image while the ledger is away, which tells what is held', async () => {
  const server = await startServer()
  try {
    const me = await person({ PINHOLE_SERVER: server.url })
    await writeFile(join(me.folder, 'a.gif'), gif())
    const link = (await me.run(['a.gif'])).stdout.trim()
    const id = link.slice(-ID_LENGTH)
    const problemOf = async (id: string) => {
      const answer = await fetch(`${server.url}/raw/${id}`)
      return [answer.status, ((await answer.json()) as Problem).error]
    }
    assert.equal((await server.operator(['hold', id, '--reason', 'a report'])).code, 0)
    await breakLedger(server.dataDir)
    assert.equal((await fetch(`${server.url}/readyz`)).status, 503)

    assert.equal((await me.run(['list', '--prune'])).stdout, '')
    assert.match((await me.run(['list'])).stdout, new RegExp(link))
    assert.deepEqual(await problemOf(id), [403, 'held'])
    assert.deepEqual(await problemOf('k'.repeat(ID_LENGTH)), [404, 'not-found'])
  } finally {
    await server.stop()
  }
})

test('JSON holds nothing that a terminal obeys', async () => {
  const me = await site.uploader()
  const name = 'a\u202e\u009b\u007fb.gif'
  const bad = `no picture ${name}`
  await writeFile(join(me.folder, name), gif())
  await writeFile(join(me.folder, bad), 'text')
  for (const words of [
    ['upload', '--json', name],
    ['compress', '--json', '-o', 'b.gif', name],
    ['list', '--json'],
    ['upload', '--json', bad],
  ]) {
    const line = (await me.run(words)).stdout
    const { file, name: listed } = JSON.parse(line)
    assert.equal(file ?? listed, words.at(-1) === bad ? bad : name)
    assert.match(line, /^[\x20-\x7e]+\n$/)
  }
})
