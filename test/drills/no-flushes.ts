/** Preload for a server (`--import`): turns every flush into a no-op that succeeds. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Callback = (error: Error | null) => void

const { open } = fs
const { O_DSYNC } = fs.constants
const withoutDsync = (path: string, flags: unknown, ...rest: unknown[]) =>
  (open as (...words: unknown[]) => void)(path, typeof flags === 'number' ? flags & ~O_DSYNC : flags, ...rest)
const noop = (...words: unknown[]) => process.nextTick(words.at(-1) as Callback, null)
Object.assign(fs, {
  open: withoutDsync,
  fsync: noop,
  fdatasync: noop,
  fsyncSync: () => {},
  fdatasyncSync: () => {},
})
const handle = await fs.promises.open(process.execPath, 'r')
const calls = Object.getPrototypeOf(handle) as Record<string, unknown>
calls.sync = async () => {}
calls.datasync = async () => {}
await handle.close()
syncBuiltinESMExports()
