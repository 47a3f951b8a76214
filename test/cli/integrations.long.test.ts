/** The script and settings that the service provides for other tools. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { folderOf } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { listening } from '../support/listen.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { serverFor, startServer } from '../support/processes/server.ts'

const noCurl = await skipWithout('curl')

const server = await startServer()
const folder = await folderOf({ after })
after(() => server.stop())
await writeFile(join(folder, 'upload.sh'), await (await fetch(`${server.url}/upload.sh`)).text())

function script(words: string[], stdin?: Uint8Array, shell = 'sh', extra = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { PATH: process.env.PATH, HOME: folder, ...extra }
    const child = execFile(shell, ['upload.sh', ...words], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
    child.stdin?.end(stdin)
  })
}

test('upload.sh uploads files and stdin without settings, and saves the keys', {
  skip: noCurl,
}, async () => {
  const images = [gif(), gif(), gif()]
  await writeFile(join(folder, 'a b.gif'), images[0]!)
  await writeFile(join(folder, 'c.gif'), images[1]!)
  const files = await script(['a b.gif', 'c.gif', 'no.gif'])
  assert.deepEqual([files.code, files.stderr], [3, 'no.gif: no such file\n'])
  const piped = await script([], images[2])
  assert.deepEqual([piped.code, piped.stderr], [0, ''])
  const links = `${files.stdout}${piped.stdout}`.trim().split('\n')
  assert.equal(links.length, 3)
  for (const [i, link] of links.entries()) {
    assert.ok(link.startsWith(`${server.baseUrl}/`))
    const raw = await fetch(link.replace(server.baseUrl, `${server.baseUrl}/raw`))
    assert.deepEqual(Buffer.from(await raw.arrayBuffer()), images[i])
  }
  const keys = join(folder, '.local/share/pinhole/keys')
  assert.equal((await stat(keys)).mode & 0o777, 0o600)
  const lines = (await readFile(keys, 'utf8')).trim().split('\n')
  assert.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    links,
  )
  const gone = await fetch(lines[0]!.split(' ')[1]!, { method: 'DELETE' })
  assert.deepEqual(await gone.json(), { success: true })
})

test('upload.sh sets a lifetime', { skip: noCurl }, async () => {
  const { stdout } = await script([], gif(), 'sh', { PINHOLE_EXPIRES: '1h' })
  const raw = await fetch(stdout.trim().replace(server.baseUrl, `${server.baseUrl}/raw`))
  assert.match(raw.headers.get('Cache-Control') ?? '', /^public, max-age=\d{1,4}, s-maxage=/)
  const refused = await script([], gif(), 'sh', { PINHOLE_EXPIRES: 'soon' })
  assert.equal(refused.code, 4)
  assert.match(refused.stderr, /expires must be/)
})

test('upload.sh reports why an upload was refused', { skip: noCurl }, async () => {
  await writeFile(join(folder, 'notes.gif'), 'no image')
  const refused = await script(['notes.gif'])
  assert.equal(refused.code, 4)
  assert.match(refused.stderr, /^notes\.gif: This is not an image of a known type\./)
  assert.equal(refused.stdout, '')
  // A proxy's answer, e.g. to a large file or to plain HTTP, is not Pinhole's.
  const { url } = await listening((_, response) => response.writeHead(413).end('<html>'))
  const foreign = await script(['notes.gif'], undefined, 'sh', { PINHOLE_SERVER: url })
  assert.equal(foreign.code, 4)
  assert.match(foreign.stderr, /^notes\.gif: The response is not from a Pinhole server\./)
})

for (const shell of ['bash', 'zsh']) {
  test(`upload.sh also runs in ${shell}, and uploads to another service`, {
    skip: noCurl || (await skipWithout(shell)),
  }, async (t) => {
    const own = await serverFor(t)
    await writeFile(join(folder, 'x y.gif'), gif())
    const result = await script(['x y.gif', 'no.gif'], undefined, shell, { PINHOLE_SERVER: `${own.url}/` })
    assert.deepEqual([result.code, result.stderr], [3, 'no.gif: no such file\n'])
    assert.match(result.stdout, new RegExp(`^${own.baseUrl}/[0-9A-Za-z]{11}\n$`))
    const passes: unknown[] = []
    const { url } = await listening(({ headers }, response) => {
      passes.push(headers.authorization)
      response.end()
    })
    for (const PINHOLE_PASS of ['pass.1', ''])
      await script(['x y.gif'], undefined, shell, { PINHOLE_SERVER: url, PINHOLE_PASS })
    assert.deepEqual(passes, ['Bearer pass.1', undefined])
  })
}

test('ShareX can upload and delete with the settings from the service', async (t) => {
  const limited = await serverFor(t, { UPLOADS_PER_DAY: '1' })
  const settings = await (await fetch(`${limited.url}/sharex.sxcu`)).json()
  assert.equal(settings.Body, 'MultipartFormData')
  const upload = async (bytes: Uint8Array) => {
    const form = new FormData()
    form.append(settings.FileFormName, new Blob([new Uint8Array(bytes)]), 'shot.png')
    const response = await fetch(settings.RequestURL, {
      method: settings.RequestMethod,
      headers: settings.Headers,
      body: form,
    })
    return response.json()
  }
  const shown = (template: string, answer: Record<string, string>) =>
    template.replace(/\{json:(\w+)\}/g, (_, name) => answer[name] ?? '')
  const answer = await upload(gif())
  assert.equal((await fetch(shown(settings.URL, answer))).status, 200)
  const deletion = await fetch(shown(settings.DeletionURL, answer))
  assert.match(deletion.headers.get('Content-Type')!, /html/)
  assert.match(shown(settings.ErrorMessage, await upload(gif())), /used all 1 of its uploads/)
})
