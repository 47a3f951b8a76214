/** What is on the screen, as a terminal emulator shows it. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import xterm from '@xterm/headless'
import { cameraJpeg } from '../client/pictures.ts'
import { type RunningServer, startServer } from '../support/processes/server.ts'
import { noTerminal, type Person, person } from './command.ts'
import { playedService } from './service.ts'

let server: RunningServer
before(async () => {
  server = await startServer()
})
after(() => server?.stop())

async function uploader(): Promise<Person> {
  const me = await person({ PINHOLE_SERVER: server.url })
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await writeFile(join(me.folder, `${name}.jpg`), await cameraJpeg(200, 150))
  return me
}

/** Rows of text, without the empty ones at the end. */
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

test('with three at a time, no rest of a bar stays on the screen', { skip: noTerminal }, async () => {
  const me = await uploader()
  const { code, stdout } = await me.runOnTerminal(['upload', '-j', '3', ...FILES])
  assert.equal(code, 0)
  const screen = await screenOf(stdout)
  assert.equal(screen.length, 10, screen.join('\n'))
  for (const [i, name] of FILES.entries()) {
    assert.match(screen[2 * i]!, new RegExp(`^${name}: JPEG .*recompressed$`))
    assert.match(screen[2 * i + 1]!, /^http:\/\/\S+$/)
  }
  // The cursor was never hidden, so that nothing has to bring it back.
  assert.ok(!stdout.includes('\x1b[?25l'))
})

test('through tee, links reach the terminal and the file, each on a line of its own', {
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

test('the first Ctrl-C ends an upload, and one that waits for stdin', { skip: noTerminal }, async () => {
  const silent = await playedService(() => {})
  const me = await uploader()
  for (const words of [
    ['upload', 'a.jpg'],
    ['upload', '-'],
  ]) {
    let said = ''
    const { code, stdout } = await me.runOnTerminal(words, '', {
      stdin: 'open',
      env: { PINHOLE_SERVER: silent.url },
      onStart(child) {
        child.stdout?.on('data', (part) => {
          const before = said
          said += part
          const ready = words[1] === '-' ? /waiting/ : /uploading/
          if (!ready.test(before) && ready.test(said)) child.stdin?.write('\x03')
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
