/** Loaded into a server with `--import`: flushes succeed and do nothing. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Callback = (error: Error | null) => void

const { open } = fs
const { O_DSYNC } = fs.constants
const withoutDsync = (path: string, flags: unknown, ...rest: unknown[]) =>
  (open as (...words: unknown[]) => void)(path, typeof flags === 'number' ? flags & ~O_DSYNC : flags, ...rest)
const nothing = (...words: unknown[]) => process.nextTick(words.at(-1) as Callback, null)
Object.assign(fs, {
  open: withoutDsync,
  fsync: nothing,
  fdatasync: nothing,
  fsyncSync: () => {},
  fdatasyncSync: () => {},
})
const handle = await fs.promises.open(process.execPath, 'r')
const calls = Object.getPrototypeOf(handle) as Record<string, unknown>
calls.sync = async () => {}
calls.datasync = async () => {}
await handle.close()
syncBuiltinESMExports()
