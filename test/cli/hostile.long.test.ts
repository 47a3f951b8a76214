/** Services and networks that are not what they should be. */
import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SENT } from '../client/api/fake-service.ts'
import { gif } from '../support/images/tiny-images.ts'
import { person } from './command.ts'
import { playedService } from './service.ts'

async function uploader(pictures: number) {
  const me = await person()
  const names = Array.from({ length: pictures }, (_, i) => `${i}.gif`)
  for (const name of names) await writeFile(join(me.folder, name), gif())
  return { ...me, names }
}

test('an answer whose id is a path writes no file, in the history or elsewhere', async () => {
  const me = await uploader(1)
  const service = await playedService((_, response) => {
    const id = '../../../../evil'
    response.writeHead(201).end(JSON.stringify({ ...SENT, id, link: `https://pics.example/${id}` }))
  })
  const { code, stderr, stdout } = await me.run(['upload', '-s', service.url, '--retries', '0', '0.gif'])
  assert.deepEqual([code, stdout.length], [5, 0])
  assert.match(stderr, /not what a Pinhole service sends/)
  const files = await readdir(me.folder, { recursive: true })
  assert.deepEqual(
    files.filter((name) => /evil|json/.test(name)),
    [],
  )
})

test('an entry of the history that was tampered with is not shown and not acted upon', async () => {
  const me = await uploader(1)
  const service = await playedService((_, response) => {
    response.writeHead(201).end(JSON.stringify(SENT))
  })
  assert.equal((await me.run(['upload', '-s', service.url, '0.gif'])).code, 0)
  const folder = join(me.dataHome, 'pinhole/uploads')
  const [file] = await readdir(folder)
  const entry = { ...SENT, name: 'a.gif', type: 'image/gif', bytes: 1, time: '2026-01-01T00:00:00.000Z' }
  await writeFile(join(folder, file!), JSON.stringify({ ...entry, time: '../../../photo' }))
  assert.equal((await me.run(['list'])).stdout.length, 0)
  await writeFile(join(folder, file!), JSON.stringify(entry))
  assert.match((await me.run(['list'])).stdout, /pics\.example/)
})

test('what a service says, and what a file is called, is shown and not obeyed', async () => {
  const me = await person()
  const name = 'red\x1b[31m\u202egpj.gif'
  await writeFile(join(me.folder, name), gif())
  const service = await playedService((_, response) => {
    const problem = { error: 'unsupported-type', detail: 'No.\x1b]0;owned\x07\x1b[2J\r\nfake: done' }
    response.writeHead(415).end(JSON.stringify(problem))
  })
  const { code, stderr } = await me.run(['upload', '-s', service.url, name])
  assert.equal(code, 4)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  assert.doesNotMatch(stderr.replace(/\n$/, ''), /[\x00-\x1f\x7f-\x9f\u202e]/)
  assert.match(stderr, /^red\\u\{1b\}\[31m\\u\{202e\}gpj\.gif: No\./)
})

test('a quota that is used up ends the run, and files in flight arrive', async () => {
  const me = await uploader(6)
  const service = await playedService((_, response) => {
    if (service.uploads.length === 1) {
      const detail = 'That was the last of today.'
      response.writeHead(429).end(JSON.stringify({ error: 'quota-exceeded', detail }))
    } else {
      setTimeout(() => response.writeHead(201).end(JSON.stringify(SENT)), 100)
    }
  })
  const { code, stderr, lines } = await me.run(['upload', '-j', '2', '-s', service.url, ...me.names])
  assert.equal(code, 4)
  assert.ok(service.uploads.length <= 2, `${service.uploads.length} uploads`)
  assert.equal(lines.length, service.uploads.length - 1)
  const [sentence, ...unsent] = stderr.trimEnd().split('\n')
  assert.equal(sentence, 'That was the last of today. Not sent:')
  assert.equal(unsent.length, 6 - lines.length)
  for (const line of unsent) assert.match(line, /^ {2}[0-5]\.gif$/)
})

test('an address that is none of a service ends the run with a sentence that helps', async () => {
  const me = await uploader(3)
  for (const [status, sentence] of [
    [404, /^No Pinhole service answers at this address.*Not sent:\n {2}0\.gif\n {2}1\.gif\n {2}2\.gif\n$/],
    [413, /^0\.gif: A proxy before the service refuses/],
  ] as const) {
    const service = await playedService((_, response) => response.writeHead(status).end('<html>'))
    const { code, stderr } = await me.run(['upload', '-j', '1', '-s', service.url, ...me.names])
    assert.equal(code, 4)
    assert.match(stderr, sentence)
    // The size of one file says nothing about the next.
    assert.equal(service.uploads.length, status === 413 ? 3 : 1)
  }
})
