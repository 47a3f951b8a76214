/** Developer commands print their usage. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './support/processes/process.ts'

const SCRIPTS = {
  'npm test': 'scripts/test.ts',
  'npm run contract': 'scripts/contract.ts',
  'npm run drill': 'scripts/drill.ts',
  'npm run bench': 'bench/main.ts',
  'npm run release': 'build/release.ts',
}

for (const [command, file] of Object.entries(SCRIPTS)) {
  test(`${command} prints one line of usage for --help and after an unknown option`, async () => {
    const help = await run([file, '--help'])
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, new RegExp(`^usage: ${command} -- .*\\n$`))
    const wrong = await run([file, '--no-such-option'])
    assert.deepEqual([wrong.code, wrong.stdout], [2, ''])
    assert.match(wrong.stderr, /^Unknown option '--no-such-option'.*\n/)
    assert.ok(wrong.stderr.endsWith(`\n${help.stdout}`), wrong.stderr)
  })
}
