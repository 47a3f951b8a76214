import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gif } from '../support/images/tiny-images.ts'
import { skipWithout } from '../support/processes/caches.ts'
import { ROOT, run } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import { newUser } from './command.ts'

test('serve runs the service until it gets SIGTERM', async () => {
  const me = await newUser()
  await writeFile(join(me.folder, 'a.gif'), gif())
  let output = ''
  let stop = () => {}
  const serving = me.run(['serve', '--port', '0', '--host', '127.0.0.1', '--data', 'pictures'], {
    onStart(child) {
      child.stdout?.on('data', (text) => {
        output += text
      })
      stop = () => child.kill('SIGTERM')
    },
  })
  try {
    await until('the server prints its address', () => /Pinhole is at \S+\n/.test(output), 60_000)
    const address = /Pinhole is at (\S+)/.exec(output)![1]!
    const { code, stdout } = await me.run(['upload', '--server', address, 'a.gif'])
    assert.equal(code, 0)
    assert.equal((await fetch(stdout.trim())).status, 200)
  } finally {
    stop()
  }
  assert.equal((await serving).code, 0)
})

test('serve passes on the exit code of a failed start', async () => {
  const me = await newUser()
  const { code, stderr } = await me.run(['serve', '--port', 'x'])
  assert.equal(code, 1)
  assert.match(stderr, /PORT/)
})

test('completion scripts are valid and complete', async () => {
  const me = await newUser()
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
  // No suggestions where files are expected, so that readline completes files.
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

test('zsh completes files also where a command may stand', { skip: await skipWithout('zsh') }, async () => {
  const me = await newUser()
  await writeFile(join(me.folder, 'holiday.gif'), gif())
  await writeFile(join(me.folder, 'completion.zsh'), (await me.run(['completion', 'zsh'])).stdout)
  const completed = (line: string) => {
    const setup = 'autoload -Uz compinit; compinit -u -D; . ./completion.zsh; pinhole() { print "words"=$* }'
    const type = [`zpty -w shell '${setup}'`, `zpty -w -n shell $'${line}\\t\\n'`]
    const typed = ['zmodload zsh/zpty', 'zpty shell zsh -f -i', ...type, "zpty -r shell output '*words=*\n'"]
    const output = execFileSync('zsh', ['-fc', `${typed.join('\n')}\nprint -r -- $output`], {
      cwd: me.folder,
    })
    return /words=(.*?)\s*$/.exec(`${output}`)?.[1]
  }
  assert.equal(completed('pinhole hol'), 'holiday.gif')
  assert.equal(completed('pinhole --json hol'), '--json holiday.gif')
  assert.equal(completed('pinhole up'), 'upload')
})

test('the command runs under any Node that starts it', async () => {
  const { code, stdout } = await run(['bin/pinhole.mjs', '--version'], {}, 'node')
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  assert.deepEqual([code, stdout], [0, `${version}\n`])
})
