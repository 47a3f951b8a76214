/** Names and bytes that the kernel has in its memory: the same as Node finds, and nothing that has to be waited for. */
import assert from 'node:assert/strict'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { cachedReads, openKnown } from '../../../src/stores/filesystem/page-cache.ts'

/** `null` if the kernel let go of the name each time. */
function openedKnown(path: string): number | null {
  for (let tries = 0; tries < 100; tries++) {
    statSync(path)
    const descriptor = openKnown(path)
    if (descriptor >= 0) return descriptor
  }
  return null
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'pinhole-page-cache-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** As f_type of statfs(2). */
const TMPFS = 0x01021994

/** Since Linux 5.12. */
function tellsNames(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return cachedReads() !== null && (major > 5 || (major === 5 && minor >= 12))
}

/** Forgets all names. `false` where only root may, or the system is another one. */
function forgetNames(): boolean {
  try {
    writeFileSync('/proc/sys/vm/drop_caches', '2')
    return true
  } catch {
    return false
  }
}

test('a name that is known is opened: the same file, for reading, in this process only', (t) => {
  for (const name of ['plain', 'with spaces', 'größer als 8 bit, 🖼', 'x'.repeat(255)]) {
    const path = join(folder(t), name)
    writeFileSync(path, name)
    const descriptor = openedKnown(path)
    assert.ok(descriptor !== null, name)
    try {
      assert.equal(readFileSync(descriptor, 'utf8'), name)
      assert.throws(() => writeFileSync(descriptor, 'x'), { code: 'EBADF' })
      if (process.platform !== 'linux') continue
      const flags = /flags:\s+0(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))![1]!
      assert.ok(Number.parseInt(flags, 8) & 0o2000000, 'O_CLOEXEC')
    } finally {
      closeSync(descriptor)
    }
  }
})

test('what cannot be opened is -1, and takes no descriptor', (t) => {
  const path = folder(t)
  const next = () => {
    const descriptor = openSync(path, 'r')
    closeSync(descriptor)
    return descriptor
  }
  const before = next()
  for (const absent of [
    'absent',
    'absent/absent',
    'x'.repeat(300),
    `${'x/'.repeat(5000)}x`,
    `${'ö'.repeat(2047)}`,
  ]) {
    assert.equal(openKnown(join(path, absent)), -1)
  }
  assert.equal(next(), before)
})

test('a name that the kernel forgot is not looked for on the disk', (t) => {
  const path = join(folder(t), 'image')
  writeFileSync(path, 'bytes')
  const { type } = statfsSync(folder(t))
  if (type === TMPFS) return t.skip('does not apply: a file system in memory forgets no names')
  if (!tellsNames()) return t.skip('does not apply: an older Node or kernel, or another system')
  if (!forgetNames()) return t.skip('does not apply: only root can have names forgotten')
  const tries = Array.from({ length: 20 }, () => {
    forgetNames()
    const descriptor = openKnown(path)
    if (descriptor >= 0) closeSync(descriptor)
    return descriptor
  })
  // Somebody else may look it up at the same moment, but not each time.
  assert.ok(tries.includes(-1))
  const descriptor = openedKnown(path)
  assert.ok(descriptor !== null)
  closeSync(descriptor)
})
