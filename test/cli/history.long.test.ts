/** The upload history, folders, closed pipes, and JSON output. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { ID_LENGTH, type Problem } from '../../src/protocol.ts'
import { gif } from '../support/images/tiny-images.ts'
import { listening } from '../support/listen.ts'
import { breakLedger } from '../support/processes/broken-ledger.ts'
import { serverFor } from '../support/processes/server.ts'
import { newUser, noTerminal } from './command.ts'
import * as site from './uploader.ts'

test('uploads a file again if its earlier upload no longer exists', async () => {
  const me = await site.uploader()
  const first = JSON.parse((await me.run(['--json', 'small.gif'])).stdout)
  assert.equal((await me.run(['small.gif'])).stdout.trim(), first.link)
  assert.equal((await fetch(first.delete, { method: 'DELETE' })).status, 200)
  const link = (await me.run(['small.gif'])).stdout.trim()
  assert.ok(Buffer.isBuffer(await site.bytesOf(link)), link)
  assert.equal((await me.run(['small.gif'])).stdout.trim(), link)
})

test('-r accepts a parent folder and a hidden folder, but skips hidden folders in it', async () => {
  const me = await site.uploader()
  await mkdir(join(me.folder, '.shots/.trash'), { recursive: true })
  for (const name of ['.shots/a.gif', '.shots/.trash/b.gif']) await writeFile(join(me.folder, name), gif())
  const cases = [`${me.folder}/.shots`, './.shots', `../${basename(me.folder)}/.shots`]
  for (const word of cases) {
    const { lines, stderr } = await me.run(['upload', '--again', '-r', word])
    assert.deepEqual([lines.length, stderr], [1, ''], word)
  }
})

test('-r reports an unreadable folder, and uploads the other images', async () => {
  const me = await site.uploader()
  await mkdir(join(me.folder, 'trip'))
  await writeFile(join(me.folder, 'trip/a.gif'), gif())
  // Root can read everything except folders nested deeper than the maximum path length.
  const script = `for (let n = 0; n < 20; n++) { fs.mkdirSync('d'.repeat(250)); process.chdir('d'.repeat(250)) }`
  const cwd = join(me.folder, 'trip')
  execFileSync(process.execPath, ['-e', script], { cwd })
  try {
    const { code, lines, stderr } = await me.run(['upload', '-r', 'trip'])
    assert.deepEqual([code, lines.length], [3, 1])
    assert.match(stderr, /can't be read \(ENAMETOOLONG\)/)
  } finally {
    // Node's `rm` would need the path, which is too long.
    execFileSync('rm', ['-rf', cwd])
  }
})

test('says what to do with a file whose name is not UTF-8', async () => {
  const me = await newUser({ PINHOLE_SERVER: site.server.url })
  await writeFile(Buffer.from(`${me.folder}/caf\xe9.gif`, 'latin1'), gif())
  const { code, stderr } = await me.run(['-r', '.'])
  assert.deepEqual(
    [code, stderr],
    [3, 'caf\ufffd.gif: File not found. Its name is not UTF-8: use - for stdin instead.\n'],
  )
})

test('continues uploading when the reader closes the pipe', async () => {
  const me = await site.uploader()
  const names = ['a.gif', 'b.gif', 'c.gif']
  for (const name of names) await writeFile(join(me.folder, name), gif())
  const { code } = await me.run(['upload', '-j', '1', ...names], {
    onStart: ({ stdout }) => stdout!.once('data', () => stdout!.destroy()),
  })
  assert.equal(code, 0)
  assert.equal((await readdir(join(me.dataHome, 'pinhole/uploads'))).length, 3)
})

test('continues uploading when its output cannot be written, and says so', { skip: noTerminal }, async () => {
  const me = await site.uploader()
  const { code, stdout } = await me.runOnTerminal(
    ['upload', '-j', '1', 'photo.jpg', 'small.gif'],
    '>/dev/full',
  )
  assert.equal(code, 1)
  assert.match(stdout, /pinhole: ENOSPC: no space left on device, write\r\n$/)
  assert.equal((await me.run(['list'])).lines.length, 2)
})

test('delete finds the key for every link of an image, as copied from a browser or a page', async () => {
  const me = await site.uploader()
  const { link, raw, id } = JSON.parse((await me.run(['upload', '--json', 'small.gif'])).stdout)
  for (const name of [link, `${link}?utm_source=chat#top`, `${link}/`, `${raw}.gif?dl=1`, id]) {
    await me.run(['upload', 'small.gif'])
    const [listed] = (await me.run(['list', '--json'])).lines
    const { code, stderr } = await me.run(['delete', name.replace(id, JSON.parse(listed!).id)])
    assert.deepEqual([code, stderr], [0, ''], name)
  }
  const other = await me.run(['delete', `${site.server.baseUrl}/g#${id}`])
  assert.match(other.stderr, /No deletion key/)
})

test('list --prune only removes uploads that the service itself reports as gone', async () => {
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

test('list --prune asks a service that does not answer only once', async () => {
  const me = await site.uploader()
  await me.run(['upload', '--again', 'photo.jpg', 'small.gif', 'small.gif'])
  let requests = 0
  const { url } = await listening(({ socket }) => {
    requests++
    socket.destroy()
  })
  const folder = join(me.dataHome, 'pinhole/uploads')
  for (const name of await readdir(folder)) {
    const entry = await readFile(join(folder, name), 'utf8')
    await writeFile(join(folder, name), entry.replaceAll(site.server.baseUrl, url))
  }
  const { code, stdout, stderr } = await me.run(['list', '--prune'])
  assert.deepEqual([code, stdout, requests], [5, '', 1])
  assert.match(stderr, /^\S+: Its service can’t be reached, so its uploads stay in the list\.\n$/)
  assert.equal((await me.run(['list'])).lines.length, 3)
})

test('list --prune keeps the key of a held image while the ledger is unavailable', async (t) => {
  const server = await serverFor(t)
  const me = await newUser({ PINHOLE_SERVER: server.url })
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
})

test('JSON output contains no control characters', async () => {
  const me = await site.uploader()
  const name = 'a\u202e\u009b\u007fb.gif'
  const bad = `no image ${name}`
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
