/** Contract of `src/stores/files.ts`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Files } from '../../src/stores/files.ts'

export interface FilesUnderTest {
  /** Files in a location that does not exist yet. */
  files: Files
  /** The same location, opened as by another process. */
  reopen(): Files
  /** Runs `operation` and simulates a crash just before its disk call number `step`. True if it crashed. */
  crashesAt?(step: number, operation: () => Promise<unknown>): Promise<boolean>
  close(): Promise<void>
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

export function filesContract(name: string, open: () => Promise<FilesUnderTest>): void {
  const on = (title: string, run: (under: FilesUnderTest) => Promise<void>) =>
    test(title, async () => {
      const under = await open()
      try {
        await run(under)
      } finally {
        await under.close()
      }
    })

  describe(`files: ${name}`, () => {
    on('has no files if the location is missing', async ({ files }) => {
      assert.deepEqual(await files.names(), [])
      assert.equal(await files.read('a'), null)
      await files.remove('a')
    })

    on('shows written files to every process', async ({ files, reopen }) => {
      await files.make()
      await files.make()
      await files.write('b.json', bytesOf('one'))
      await files.write('a-1.jsonl', bytesOf(''))
      await files.write('b.json', bytesOf('two'))
      const other = reopen()
      assert.deepEqual(await other.names(), ['a-1.jsonl', 'b.json'])
      assert.equal(new TextDecoder().decode((await other.read('b.json'))!), 'two')
      assert.equal((await other.read('a-1.jsonl'))!.length, 0)
      await other.remove('b.json')
      await other.remove('b.json')
      assert.deepEqual(await files.names(), ['a-1.jsonl'])
      await other.close()
    })

    on('lists more than one page', async ({ files }) => {
      await files.make()
      const names = Array.from({ length: 1100 }, (_, index) => `n${String(index).padStart(4, '0')}`)
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((each) => files.write(each, bytesOf('x'))))
      }
      assert.deepEqual(await files.names(), names)
    })

    test('leaves the old or the new file if a process crashes during a write', async (t) => {
      const under = await open()
      try {
        if (under.crashesAt === undefined) return t.skip('does not apply: no hook: crashesAt')
        await under.files.make()
        await under.files.write('a', bytesOf('old'))
        let step = 0
        while (await under.crashesAt(step, () => under.files.write('a', bytesOf('new')))) {
          const found = new TextDecoder().decode((await under.files.read('a'))!)
          assert.ok(found === 'old' || found === 'new', `step ${step}`)
          assert.deepEqual(await under.files.names(), ['a'])
          step++
        }
        assert.ok(step >= 3, `${step} steps`)
        assert.equal(new TextDecoder().decode((await under.files.read('a'))!), 'new')
      } finally {
        await under.close()
      }
    })
  })
}
