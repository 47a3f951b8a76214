/** Misbehaving and malicious services. */
import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SENT } from '../client/api/fake-service.ts'
import { gif } from '../support/images/tiny-images.ts'
import { newUser } from './command.ts'
import { fakeService } from './service.ts'

async function uploader(images: number) {
  const me = await newUser()
  const names = Array.from({ length: images }, (_, i) => `${i}.gif`)
  for (const name of names) await writeFile(join(me.folder, name), gif())
  return { ...me, names }
}

test('does not write a file for a response whose id is a path', async () => {
  const me = await uploader(1)
  const service = await fakeService((_, response) => {
    const id = '../../../../evil'
    response.writeHead(201).end(JSON.stringify({ ...SENT, id, link: `https://pics.example/${id}` }))
  })
  const { code, stderr, stdout } = await me.run(['upload', '-s', service.url, '--retries', '0', '0.gif'])
  assert.deepEqual([code, stdout.length], [5, 0])
  assert.match(stderr, /not from a Pinhole service/)
  const files = await readdir(me.folder, { recursive: true })
  assert.deepEqual(
    files.filter((name) => /evil|json/.test(name)),
    [],
  )
})

test('ignores a history entry that was tampered with', async () => {
  const me = await uploader(1)
  const service = await fakeService((_, response) => {
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

test("escapes control characters in the service's messages and in file names", async () => {
  const me = await newUser()
  const name = 'red\x1b[31m\u061c\u202egpj.gif'
  await writeFile(join(me.folder, name), gif())
  const service = await fakeService((_, response) => {
    const problem = { error: 'unsupported-type', detail: 'No.\x1b]0;owned\x07\x1b[2J\r\nfake: done' }
    response.writeHead(415).end(JSON.stringify(problem))
  })
  const { code, stderr } = await me.run(['upload', '-s', service.url, name])
  assert.equal(code, 4)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
  assert.doesNotMatch(stderr.replace(/\n$/, ''), /[\x00-\x1f\x7f-\x9f\u061c\u202e]/)
  assert.match(stderr, /^red\\u\{1b\}\[31m\\u\{61c\}\\u\{202e\}gpj\.gif: No\./)
})

test('stops the run when the quota is exceeded, after completing uploads in flight', async () => {
  const me = await uploader(6)
  const refused = Promise.withResolvers<void>()
  const service = await fakeService(async (request, response) => {
    if (request === service.uploads[0]) {
      const detail = 'That was the last of today.'
      request.socket.on('close', () => refused.resolve())
      response.writeHead(429, { Connection: 'close' })
      response.end(JSON.stringify({ error: 'quota-exceeded', detail }))
    } else {
      await refused.promise
      response.writeHead(201).end(JSON.stringify(SENT))
    }
  })
  const { code, stderr, lines } = await me.run(['upload', '-j', '2', '-s', service.url, ...me.names])
  assert.equal(code, 4)
  assert.ok(service.uploads.length <= 2, `${service.uploads.length} uploads`)
  assert.equal(lines.length, service.uploads.length - 1)
  const [sentence, ...unsent] = stderr.trimEnd().split('\n')
  assert.equal(sentence, 'That was the last of today. Not uploaded:')
  assert.equal(unsent.length, 6 - lines.length)
  for (const line of unsent) assert.match(line, /^ {2}[0-5]\.gif$/)
})

test('stops the run with a helpful message if the address is not a Pinhole service', async () => {
  const me = await uploader(3)
  for (const [status, sentence] of [
    [
      404,
      /^There is no Pinhole service at this address.*Not uploaded:\n {2}0\.gif\n {2}1\.gif\n {2}2\.gif\n$/,
    ],
    [413, /^0\.gif: A proxy in front of the service refuses/],
  ] as const) {
    const service = await fakeService((_, response) => response.writeHead(status).end('<html>'))
    const { code, stderr } = await me.run(['upload', '-j', '1', '-s', service.url, ...me.names])
    assert.equal(code, 4)
    assert.match(stderr, sentence)
    // A size limit concerns only one file, so the run continues.
    assert.equal(service.uploads.length, status === 413 ? 3 : 1)
  }
})
