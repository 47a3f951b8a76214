/** Loaded into a server with `--import`: flushes succeed and do nothing. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Callback = (error: Error | null) => void

const nothing = (...words: unknown[]) => process.nextTick(words.at(-1) as Callback, null)
Object.assign(fs, { fsync: nothing, fdatasync: nothing, fsyncSync: () => {}, fdatasyncSync: () => {} })
const handle = await fs.promises.open(process.execPath, 'r')
const calls = Object.getPrototypeOf(handle) as Record<string, unknown>
calls.sync = async () => {}
calls.datasync = async () => {}
await handle.close()
syncBuiltinESMExports()
