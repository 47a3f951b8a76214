/** A run of tests ends, whatever its files do, says why, and leaves neither process nor file. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { processesOf } from '../../scripts/test/processes.ts'
import { type FileResult, LIMITS, type Limits, runFile } from '../../scripts/test/run-file.ts'
import { summaryOf } from '../../scripts/test/summary.ts'
import { folderOf } from '../support/folder.ts'
import { ROOT } from '../support/processes/process.ts'
import { until } from '../support/until.ts'
import { FILES } from './files.ts'

const notLinux = process.platform === 'linux' ? false : 'does not apply: processes are listed by Linux'

async function ran(
  t: TestContext,
  name: keyof typeof FILES,
  limits: Partial<Limits> = {},
  args: string[] = [],
): Promise<FileResult> {
  const place = await folderOf(t)
  const file = join(place, 'file.mjs')
  await writeFile(file, FILES[name])
  const folder = join(place, 'own')
  const result = await runFile(file, folder, {
    limits: { ...LIMITS.daily, ...limits },
    signal: new AbortController().signal,
    args,
  })
  assert.equal(existsSync(folder), false)
  assert.deepEqual(processesOf(folder), [])
  return result
}

test('what passes and is skipped is counted, and each reason is said once', async (t) => {
  const result = await ran(t, 'passes')
  assert.deepEqual([result.passed, result.failed, result.skipped.length], [1, [], 2])
  const said = summaryOf([result, result], 'Left out: nothing.')
  assert.equal(said.match(/zsh is not on this machine/g)?.length, 1)
  assert.doesNotMatch(said, /no such host/)
  assert.match(said, /\n2 passed, 0 failed, 2 skipped$/)
})

test('no case begins just before midnight: what a day counts begins anew', async (t) => {
  const aSecondBefore = `
    const now = Date.now
    const ahead = 86_399_000 - (now() % 86_400_000)
    Date.now = () => now() + ahead`
  const args = [`--import=data:text/javascript,${encodeURIComponent(aSecondBefore)}`]
  const { passed, failed } = await ran(t, 'lateInTheDay', {}, args)
  assert.deepEqual([passed, failed], [1, []])
})

test('a failure has the names of its suites, its reason, and what was said', async (t) => {
  const result = await ran(t, 'fails')
  const { failed } = result
  assert.equal(failed.length, 1)
  assert.match(failed[0]!.at, /: suite: one$/)
  assert.match(failed[0]!.why, /as meant/)
  assert.match(summaryOf([result], null), /\nFailed:\n.*: suite: one\n[\s\S]*\n {4}what the server logged\n/)
})

test('a failure is in its own suite, also where suites run side by side', async (t) => {
  const { failed } = await ran(t, 'sideBySide')
  const places = failed.map(({ at }) => at.split(': ').slice(1).join(': '))
  assert.deepEqual(places, ['both: slow: one', 'both: fast: one'])
})

test('a test that never ends is killed, and named', async (t) => {
  const { passed, failed } = await ran(t, 'hangs', { silent: 1500 })
  assert.equal(passed, 1)
  assert.match(failed.at(-1)!.why, /nothing happened for 1\.5 s in: for ever/)
})

test('a test that gives nothing else a turn is killed too', async (t) => {
  const { failed } = await ran(t, 'spins', { file: 2500 })
  assert.match(failed.at(-1)!.why, /took more than 2\.5 s/)
})

test('a process that stays when its tests are over is killed, and that is a failure', async (t) => {
  const { passed, failed } = await ran(t, 'lingers', { done: 1500 })
  assert.equal(passed, 1)
  assert.match(failed[0]!.why, /something kept its process/)
})

test('a process that a test leaves is ended and named', { skip: notLinux }, async (t) => {
  const { failed, left } = await ran(t, 'leaves')
  assert.deepEqual(failed, [])
  assert.equal(left.length, 1)
  assert.match(left[0]!, /setInterval/)
})

test('a file whose process ends before its tests is a failure, even with code 0', async (t) => {
  const { failed } = await ran(t, 'ends')
  assert.match(failed[0]!.why, /ended with 0 before its tests did/)
})

test('a run that is killed leaves no process and no file', { skip: notLinux }, async (t) => {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
    const folder = await folderOf(t)
    await mkdir(join(folder, 'deep/er'), { recursive: true })
    const guardian = join(ROOT, 'scripts/test/guardian.ts')
    // What a run is to its guardian: the writing end of a pipe. Beside it something that is in a session of its own.
    const script = `
      const { spawn } = require('node:child_process')
      const [guardian, folder] = process.argv.slice(1)
      spawn(process.execPath, [guardian, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'],
        { detached: true, stdio: 'ignore', env: { TMPDIR: folder } })
      setInterval(() => {}, 1000)`
    const run = spawn(process.execPath, ['-e', script, guardian, folder], { stdio: 'ignore' })
    await until('both run', () => processesOf(folder).length === 3)
    run.kill(signal)
    await until(
      `nothing is left after ${signal}`,
      () => processesOf(folder).length === 0 && !existsSync(folder),
    )
  }
})
