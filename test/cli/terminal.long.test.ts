/** The screen contents, as shown by a terminal emulator. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import xterm from '@xterm/headless'
import { cameraJpeg } from '../client/pictures.ts'
import { gif } from '../support/images/tiny-images.ts'
import { startServer } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { newUser, noTerminal, type User } from './command.ts'
import { fakeService } from './service.ts'

const server = await startServer()
after(() => server.stop())

async function uploader(): Promise<User> {
  const me = await newUser({ PINHOLE_SERVER: server.url })
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await writeFile(join(me.folder, `${name}.jpg`), await cameraJpeg(200, 150))
  return me
}

/** Rows of text, without trailing empty rows. */
async function screenOf(written: string): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: 100, rows: 40, allowProposedApi: true, convertEol: false })
  await new Promise<void>((resolve) => terminal.write(written, resolve))
  const { active } = terminal.buffer
  const lines = Array.from(
    { length: active.length },
    (_, i) => active.getLine(i)?.translateToString(true) ?? '',
  )
  terminal.dispose()
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}

const FILES = ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg', 'e.jpg']

test('leaves no part of a progress bar on the screen with three concurrent uploads', {
  skip: noTerminal,
}, async () => {
  const me = await uploader()
  const { code, stdout } = await me.runOnTerminal(['upload', '-j', '3', ...FILES])
  assert.equal(code, 0)
  const screen = await screenOf(stdout)
  assert.equal(screen.length, 10, screen.join('\n'))
  for (const [i, name] of FILES.entries()) {
    assert.match(screen[2 * i]!, new RegExp(`^${name}: JPEG .*recompressed$`))
    assert.match(screen[2 * i + 1]!, /^http:\/\/\S+$/)
  }
  // The cursor is never hidden, so nothing has to restore it.
  assert.ok(!stdout.includes('\x1b[?25l'))
})

test('prints only lines to a terminal that cannot move its cursor', { skip: noTerminal }, async () => {
  const me = await uploader()
  const { code, stdout } = await me.runOnTerminal(['upload', 'a.jpg'], '', { env: { TERM: 'dumb' } })
  assert.equal(code, 0)
  assert.match(stdout, /^a\.jpg: JPEG .*recompressed\r\nhttp:\/\/\S+\r\n$/)
})

test('prints each link on its own line to the terminal and the file when piped through tee', {
  skip: noTerminal,
}, async () => {
  const me = await uploader()
  const { code, stdout } = await me.runOnTerminal(['upload', '-j', '3', ...FILES], '| tee links.txt')
  assert.equal(code, 0)
  const links = (await readFile(join(me.folder, 'links.txt'), 'utf8')).trim().split('\n')
  assert.equal(links.length, 5)
  const screen = await screenOf(stdout)
  assert.deepEqual(screen.slice(-5), links)
  assert.equal(screen.length, 10, screen.join('\n'))
})

test('--watch prints each link at once when piped', { skip: noTerminal }, async () => {
  const me = await uploader()
  const links = () => readFile(join(me.folder, 'links.txt'), 'utf8').catch(() => '')
  let stop = () => {}
  const watching = me.runOnTerminal(['upload', 'a.jpg', '--watch', '.'], '| tee links.txt', {
    stdin: 'open',
    onStart(child) {
      stop = () => child.stdin?.write('\x03')
    },
  })
  try {
    await until('the first link is printed', async () => (await links()).includes('\n'))
    await until('a link of the watch is printed', async () => {
      await writeFile(join(me.folder, 'new.gif'), gif())
      return (await links()).split('\n').length > 2
    })
  } finally {
    stop()
  }
  await watching
})

test('one Ctrl-C cancels a pending upload, and one that is waiting for stdin', {
  skip: noTerminal,
}, async () => {
  const silent = await fakeService(() => {})
  const me = await uploader()
  for (const words of [
    ['upload', 'a.jpg'],
    ['upload', '-'],
  ]) {
    let output = ''
    const { code, stdout } = await me.runOnTerminal(words, '', {
      stdin: 'open',
      env: { PINHOLE_SERVER: silent.url },
      onStart(child) {
        child.stdout?.on('data', (part) => {
          const before = output
          output += part
          const ready = words[1] === '-' ? /waiting/ : /uploading/
          if (!ready.test(before) && ready.test(output)) child.stdin?.write('\x03')
        })
      },
    })
    assert.equal(code, 130)
    assert.deepEqual(
      (await screenOf(stdout)).filter((line) => line !== '^C'),
      [],
    )
  }
})
