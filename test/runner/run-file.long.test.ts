/** A test run ends whatever its files do, reports why, and leaves no processes or files. */
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
  const base = await folderOf(t)
  const file = join(base, 'file.mjs')
  await writeFile(file, FILES[name])
  const folder = join(base, 'own')
  const result = await runFile(file, folder, {
    limits: { ...LIMITS.daily, ...limits },
    signal: new AbortController().signal,
    args,
  })
  assert.equal(existsSync(folder), false)
  assert.deepEqual(processesOf(folder), [])
  return result
}

test('counts passed and skipped tests, and reports each skip reason once', async (t) => {
  const result = await ran(t, 'passes')
  assert.deepEqual([result.passed, result.failed, result.skipped.length], [1, [], 2])
  const summary = summaryOf([result, result], 'Left out: nothing.')
  assert.equal(summary.match(/zsh is not on this machine/g)?.length, 1)
  assert.doesNotMatch(summary, /no such host/)
  assert.match(summary, /\n2 passed, 0 failed, 2 skipped$/)
})

test('delays tests that would start just before midnight, when daily counts reset', async (t) => {
  const aSecondBefore = `
    const now = Date.now
    const ahead = 86_399_000 - (now() % 86_400_000)
    Date.now = () => now() + ahead`
  const args = [`--import=data:text/javascript,${encodeURIComponent(aSecondBefore)}`]
  const { passed, failed } = await ran(t, 'lateInTheDay', {}, args)
  assert.deepEqual([passed, failed], [1, []])
})

test('reports a failure with its suites, its reason, and diagnostics', async (t) => {
  const result = await ran(t, 'fails')
  const { failed } = result
  assert.equal(failed.length, 1)
  assert.match(failed[0]!.at, /: suite: one$/)
  assert.match(failed[0]!.why, /as meant/)
  assert.match(summaryOf([result], null), /\nFailed:\n.*: suite: one\n[\s\S]*\n {4}what the server logged\n/)
})

test('attributes a failure to its own suite, even if suites run concurrently', async (t) => {
  const { failed } = await ran(t, 'sideBySide')
  const locations = failed.map(({ at }) => at.split(': ').slice(1).join(': '))
  assert.deepEqual(locations, ['both: slow: one', 'both: fast: one'])
})

test('reports an uncaught error with its origin, even where Node’s runner does not track promises', async (t) => {
  const untracked = `--import=${join(ROOT, 'scripts/test/untracked.ts')}`
  for (const name of ['throwsOutside', 'rejectsOutside'] as const) {
    for (const args of [[], [untracked]]) {
      const { failed } = await ran(t, name, {}, args)
      assert.equal(failed.length, 1)
      assert.match(failed[0]!.why, /as meant[\s\S]+file\.mjs:\d/)
    }
  }
})

test('kills and names a test that never ends', async (t) => {
  const { passed, failed } = await ran(t, 'hangs', { silent: 10_000 })
  assert.equal(passed, 1)
  assert.match(failed.at(-1)!.why, /nothing happened for 10 s in: for ever/)
})

test('kills a test that blocks the event loop', async (t) => {
  const { failed } = await ran(t, 'spins', { file: 2500 })
  assert.match(failed.at(-1)!.why, /took more than 2\.5 s/)
})

test('kills a process that outlives its tests, and reports a failure', async (t) => {
  const { passed, failed } = await ran(t, 'lingers', { done: 1500 })
  assert.equal(passed, 1)
  assert.match(failed[0]!.why, /something kept its process/)
})

test('kills and names a process that a test leaves behind', { skip: notLinux }, async (t) => {
  const { failed, left } = await ran(t, 'leaves')
  assert.deepEqual(failed, [])
  assert.equal(left.length, 1)
  assert.match(left[0]!, /setInterval/)
})

test('reports a failure if the process exits before its tests end, even with code 0', async (t) => {
  const { failed } = await ran(t, 'ends')
  assert.match(failed[0]!.why, /ended with 0 before its tests did/)
})

test('leaves no process and no file when a run is killed', { skip: notLinux }, async (t) => {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
    const folder = await folderOf(t)
    await mkdir(join(folder, 'deep/er'), { recursive: true })
    const guardian = join(ROOT, 'scripts/test/guardian.ts')
    // Like a run, holds the writing end of the guardian's pipe. Next to it, a process in its own session.
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
