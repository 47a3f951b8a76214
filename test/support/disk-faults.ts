/** Disk calls of this process, replaced until the end of a test. */
import { type FileHandle, open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'

/** Replaces the flush of files and folders. Returns a function that undoes this early. */
export async function onFlush(
  t: TestContext,
  flush: (this: FileHandle) => Promise<void>,
): Promise<() => void> {
  await using handle = await open(process.execPath)
  const { mock } = t.mock.method(Object.getPrototypeOf(handle), 'sync', flush)
  return () => mock.restore()
}

/** Makes every flush fail. Returns a function that undoes this early. */
export function failFlushes(t: TestContext): Promise<() => void> {
  return onFlush(t, async () => {
    throw Object.assign(new Error('EIO: injected'), { code: 'EIO', syscall: 'fsync' })
  })
}

/** Replaces a function of `fs` or of `fs.promises`. */
export function replaceCall<Calls, Name extends keyof Calls>(
  t: TestContext,
  calls: Calls,
  name: Name,
  replacement: Calls[Name],
): void {
  const original = calls[name]
  t.after(() => {
    calls[name] = original
    syncBuiltinESMExports()
  })
  calls[name] = replacement
  syncBuiltinESMExports()
}
