/** Preload for a supervisor (`--import`): while the file NO_WORKER exists, it can't start a process. */
import { existsSync } from 'node:fs'

const { execPath } = process

Object.defineProperty(process, 'execPath', {
  get: () => (existsSync(process.env.NO_WORKER!) ? '/absent' : execPath),
})
