/** Badly behaved test files for `run-file.ts`. Kept as strings, because the runner would find files in the repository. */
export const FILES = {
  passes: `
    import { test } from 'node:test'
    test('one', () => {})
    test('two', { skip: 'zsh is not on this machine' }, () => {})
    test('three', (t) => t.skip('does not apply: no such host'))`,
  fails: `
    import { describe, test } from 'node:test'
    describe('suite', () => test('one', (t) => { t.diagnostic('what the server logged'); throw new Error('as meant') }))`,
  sideBySide: `
    import { describe, test } from 'node:test'
    import { setTimeout as sleep } from 'node:timers/promises'
    describe('both', { concurrency: 2 }, () => {
      for (const [suite, ms] of [['slow', 200], ['fast', 0]])
        describe(suite, () => {
          test('one', () => sleep(ms, null).then(() => { throw new Error('as meant') }))
        })
    })`,
  throwsOutside: `
    import { test } from 'node:test'
    test('one', async () => {
      await null
      await new Promise((resolve) => setTimeout(() => { resolve(); throw new Error('as meant') }))
    })`,
  rejectsOutside: `
    import { test } from 'node:test'
    test('one', async () => {
      Promise.reject(new Error('as meant'))
      await new Promise((resolve) => setImmediate(resolve))
    })`,
  lateInTheDay: `
    import { test } from 'node:test'
    test('one', () => { if (new Date(Date.now()).getUTCHours() !== 0) throw new Error('midnight is yet to come') })`,
  hangs: `
    import { test } from 'node:test'
    test('before', () => {})
    test('for ever', () => new Promise(() => setInterval(() => {}, 1000)))`,
  spins: `
    import { test } from 'node:test'
    test('for ever', () => { for (;;); })`,
  lingers: `
    import { test } from 'node:test'
    import { createServer } from 'node:net'
    createServer().listen(0)
    test('one', () => {})`,
  leaves: `
    import { test } from 'node:test'
    import { spawn } from 'node:child_process'
    test('one', () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' }).unref())`,
  ends: `
    import { test } from 'node:test'
    test('one', () => {})
    test('two', () => process.exit(0))
    test('three', () => {})`,
} satisfies Record<string, string>
