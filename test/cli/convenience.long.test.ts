/** Conveniences of the command: short form, folders, settings, watched folders, history, output files. */
import assert from 'node:assert/strict'
import { mkdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cameraJpeg, photoPng } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { listening } from '../support/listen.ts'
import { startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { newUser } from './command.ts'

const server = await startServer()
after(() => server.stop())

const uploader = () => newUser({ PINHOLE_SERVER: server.url })

test('uploads a file without naming the command, with any options', async () => {
  const me = await uploader()
  await writeFile(join(me.folder, 'a.gif'), gif())
  for (const words of [['a.gif'], ['./a.gif'], ['--json', 'a.gif'], ['*.gif'], ['-j', '1', 'a.gif']]) {
    const { code, lines, stderr } = await me.run(words)
    assert.deepEqual([code, stderr, lines.length], [0, '', 1], words.join(' '))
  }
  const stdin = await me.run(['-'], { stdin: gif() })
  assert.equal(stdin.code, 0)
  assert.match((await me.run(['list'])).lines.at(-1)!, /pinhole \d{4}-\d\d-\d\d at [\d.]{8}$/)
})

test('-r uploads the images in a folder and its subfolders, except hidden ones', async () => {
  const me = await uploader()
  await mkdir(join(me.folder, 'trip/day 2'), { recursive: true })
  await mkdir(join(me.folder, 'trip/.cache'))
  for (const name of ['trip/b.gif', 'trip/day 2/a.GIF', 'trip/notes.txt', 'trip/.cache/c.gif', 'trip/.d.gif'])
    await writeFile(join(me.folder, name), gif())
  await symlink('b.gif', join(me.folder, 'trip/link.gif'))
  await symlink('..', join(me.folder, 'trip/day 2/circle'))
  const { code, lines } = await me.run(['-r', 'trip', '--json'])
  assert.equal(code, 0)
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).file),
    ['trip/b.gif', 'trip/day 2/a.GIF', 'trip/link.gif'],
  )
  const without = await me.run(['upload', 'trip'])
  assert.deepEqual([without.code, /Use -r/.test(without.stderr)], [3, true])
  await mkdir(join(me.folder, 'empty'))
  assert.equal((await me.run(['-r', 'empty'])).code, 2)
})

test('use sets the default service, which the environment and the command line override', async () => {
  const me = await newUser()
  await writeFile(join(me.folder, 'a.gif'), gif())
  assert.equal((await me.run(['use', 'pics'])).code, 2)
  assert.equal((await me.run(['use', 'http://127.0.0.1:9'])).code, 5)
  const page = await listening((_, response) => response.end('<html>'))
  for (const wrong of [`${server.url}/api/upload`, page.url]) {
    const { code, stderr } = await me.run(['use', wrong])
    assert.equal(code, 4)
    assert.match(stderr, /There is no Pinhole service at this address/)
  }
  assert.equal((await me.run(['use', server.url])).code, 0)
  assert.equal((await me.run(['a.gif'])).code, 0)
  assert.equal((await me.run(['a.gif'], { env: { PINHOLE_SERVER: 'http://127.0.0.1:9' } })).code, 5)
  assert.equal(
    (await me.run(['a.gif', '-s', server.url], { env: { PINHOLE_SERVER: 'http://127.0.0.1:9' } })).code,
    0,
  )
  const settings = join(me.folder, '.config/pinhole/settings.json')
  assert.deepEqual(JSON.parse(await readFile(settings, 'utf8')), { server: server.url })
  await writeFile(settings, 'server = x')
  const broken = await me.run(['a.gif'])
  assert.equal(broken.code, 2)
  assert.match(broken.stderr, /settings\.json is not valid/)
})

test('--watch uploads each new file in a folder once it is complete, until Ctrl-C', async () => {
  const me = await uploader()
  await writeFile(join(me.folder, 'old.gif'), gif())
  let stop = () => {}
  let output = ''
  const watching = me.run(['--watch', '.', '--json'], {
    onStart(child) {
      child.stdout?.on('data', (part) => {
        output += part
      })
      stop = () => child.kill('SIGINT')
    },
  })
  const uploadedFiles = () =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).file)
  try {
    // Files written before the watch has started are missed.
    await until('the watch has started', async () => {
      await writeFile(join(me.folder, 'first.gif'), gif())
      return uploadedFiles().length > 0
    })
    // An empty file keeps no other waiting, and is uploaded when it has a content.
    await writeFile(join(me.folder, 'empty.gif'), '')
    await writeFile(join(me.folder, 'second.gif'), gif())
    await until('the file beside an empty one is uploaded', () => uploadedFiles().includes('second.gif'))
    await writeFile(join(me.folder, 'empty.gif'), gif())
    await until('the filled file is uploaded', () => uploadedFiles().includes('empty.gif'))
    const complete = await cameraJpeg(300, 200)
    await writeFile(join(me.folder, 'shot.jpg.part'), complete.subarray(0, 1000))
    await writeFile(join(me.folder, 'notes.txt'), 'no image')
    await rename(join(me.folder, 'shot.jpg.part'), join(me.folder, 'shot.jpg'))
    await writeFile(join(me.folder, 'shot.jpg'), complete)
    await until('the last file is uploaded', () => uploadedFiles().includes('shot.jpg'))
  } finally {
    stop()
  }
  assert.equal((await watching).code, 0)
  assert.deepEqual([...new Set(uploadedFiles())], ['first.gif', 'second.gif', 'empty.gif', 'shot.jpg'])
})

test('--watch refuses a file and a missing folder', async () => {
  const me = await uploader()
  await writeFile(join(me.folder, 'a.gif'), gif())
  for (const path of ['a.gif', 'missing']) {
    const { code, stderr } = await me.run(['--watch', path])
    assert.equal(code, 3)
    assert.match(stderr, /can't be watched \(ENO/)
  }
})

test('list --forget removes an upload; list --prune removes those that the service no longer has', async () => {
  const me = await uploader()
  for (const name of ['a', 'b', 'c']) await writeFile(join(me.folder, `${name}.gif`), gif())
  const uploaded = (await me.run(['--json', 'a.gif', 'b.gif', 'c.gif'])).lines
  const [a, b, c] = uploaded.map((line) => JSON.parse(line))
  const listedLinks = async () =>
    (await me.run(['list', '--json'])).lines.map((line) => JSON.parse(line).link)
  assert.equal((await me.run(['list', '--forget', a.link])).stdout, `forgot ${a.link}\n`)
  assert.deepEqual(await listedLinks(), [b.link, c.link])
  assert.equal((await fetch(a.raw)).status, 200)
  assert.equal((await me.run(['list', '--forget', 'http://nobody.example/x'])).code, 2)
  assert.equal((await fetch(b.delete, { method: 'DELETE' })).status, 200)
  assert.equal((await me.run(['list', '--prune'])).stdout, `forgot ${b.link}\n`)
  assert.deepEqual(await listedLinks(), [c.link])
})

test('-o keeps the file mode, follows a symbolic link, and never replaces a device', async () => {
  const me = await newUser()
  const jpeg = await cameraJpeg(200, 150)
  await writeFile(join(me.folder, 'a.jpg'), jpeg, { mode: 0o640 })
  await symlink('a.jpg', join(me.folder, 'link.jpg'))
  assert.equal((await me.run(['compress', 'a.jpg', '-o', 'link.jpg'])).code, 0)
  const { mode, size } = await stat(join(me.folder, 'a.jpg'))
  assert.equal(mode & 0o777, 0o640)
  assert.ok(size < jpeg.length)
  const { code, stderr } = await me.run(['compress', 'link.jpg', '-o', '/dev/null'])
  assert.equal(code, 3)
  assert.match(stderr, /is a device.*-o -/)
  assert.ok((await stat('/dev/null')).isCharacterDevice())
})

test('-o refuses a file name with the extension of another type', async () => {
  const me = await newUser()
  const png = await photoPng()
  await writeFile(join(me.folder, 'scan.png'), png)
  const refused = await me.run(['compress', 'scan.png', '-o', 'scan.png'])
  assert.equal(refused.code, 3)
  assert.match(refused.stderr, /scan\.jpg.*--mode keep-format/)
  assert.deepEqual(await readFile(join(me.folder, 'scan.png')), png)
  assert.equal((await me.run(['compress', 'scan.png', '-o', 'scan.jpeg'])).code, 0)
})

test('-o FOLDER replaces only a file with the name of the input', async () => {
  const me = await newUser()
  const png = await photoPng()
  await writeFile(join(me.folder, 'scan.png'), png)
  await writeFile(join(me.folder, 'scan.jpg'), 'another picture')
  const refused = await me.run(['compress', 'scan.png', '-o', '.'])
  assert.equal(refused.code, 3)
  assert.match(refused.stderr, /scan\.jpg already exists/)
  assert.equal(await readFile(join(me.folder, 'scan.jpg'), 'utf8'), 'another picture')
  for (let times = 0; times < 2; times++) {
    assert.equal((await me.run(['compress', 'scan.png', '--mode', 'keep-format', '-o', '.'])).code, 0)
  }
  const { stdout } = await me.run(['compress', '-', '-o', '.', '--json'], { stdin: png })
  assert.match(JSON.parse(stdout).output, /^pinhole \S+ at \d\d\.\d\d\.\d\d\.jpg$/, 'to the second')
})
