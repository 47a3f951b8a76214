import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gif } from '../support/images/tiny-images.ts'
import { ROOT } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import { person } from './command.ts'

test('serve runs the service until it is told to stop', async () => {
  const me = await person()
  await writeFile(join(me.folder, 'a.gif'), gif())
  let said = ''
  let stop = () => {}
  const serving = me.run(['serve', '--port', '0', '--host', '127.0.0.1', '--data', 'pictures'], {
    onStart(child) {
      child.stdout?.on('data', (text) => {
        said += text
      })
      stop = () => child.kill('SIGTERM')
    },
  })
  try {
    await until('the server says where it is', () => /Pinhole is at \S+\n/.test(said), 60_000)
    const address = /Pinhole is at (\S+)/.exec(said)![1]!
    const { code, stdout } = await me.run(['upload', '--server', address, 'a.gif'])
    assert.equal(code, 0)
    assert.equal((await fetch(stdout.trim())).status, 200)
  } finally {
    stop()
  }
  assert.equal((await serving).code, 0)
})

test('a start that fails hands its exit code on', async () => {
  const me = await person()
  const { code, stderr } = await me.run(['serve', '--port', 'x'])
  assert.equal(code, 1)
  assert.match(stderr, /PORT/)
})

test('completion scripts are sound, and complete', async () => {
  const me = await person()
  const script = (await me.run(['completion', 'bash'])).stdout
  const complete = (...words: string[]) =>
    execFileSync('bash', [
      '-c',
      `${script}\nCOMP_WORDS=(${words.map((w) => `'${w}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _pinhole; echo "\${COMPREPLY[@]}"`,
    ])
      .toString()
      .trim()
  assert.equal(complete('pinhole', 'up'), 'upload')
  assert.equal(complete('pinhole', 'upload', '--mo'), '--mode')
  assert.equal(complete('pinhole', 'upload', '--mode', 'lo'), 'lossless')
  assert.equal(complete('pinhole', 'completion', 'z'), 'zsh')
  // Nothing is offered where files belong: readline then completes them itself.
  assert.equal(complete('pinhole', 'upload', ''), '')
  assert.equal(complete('pinhole', 'upload', 'pho'), '')
  assert.match(script, /complete -o bashdefault -o default -F/)
  for (const shell of ['zsh', 'fish']) {
    const { code, stdout } = await me.run(['completion', shell])
    assert.equal(code, 0)
    for (const word of ['serve', 'upload', 'delete', 'list', 'compress', 'keep-format'])
      assert.ok(stdout.includes(word))
  }
})

test('the command runs on whatever Node starts it, or says what it needs', async () => {
  const old = spawn('node', [join(ROOT, 'bin/pinhole.mjs'), '--version'])
  let said = ''
  old.stdout.on('data', (text) => {
    said += text
  })
  const code = await new Promise((resolve) => old.on('close', resolve))
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  assert.deepEqual([code, said], [0, `${version}\n`])
})
