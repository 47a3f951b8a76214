#!/usr/bin/env node
// Starts the server: `npm start`, the Docker image, the systemd unit and `pinhole serve` all run this file.
// Plain JavaScript that any Node can read, so that an old one gets a sentence instead of a syntax error.
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

// It has the SQLite that the ledger needs.
const OLDEST_NODE = '24.15'

// The server collects garbage when it is idle after a load (src/node/monitors.ts).
const FLAGS = ['--expose-gc']

// Memory that glibc returns to the system after a load (docs/decisions/068). It reads these when the process starts.
// glibc gives each thread a heap of its own, and what one frees another can't use: 25 MB after a wave of downloads.
// Where its heap would have to grow for a buffer of a body, glibc takes pages for that one and returns them with it. In the
// heap they would stay: what small things lie between them after a wave of uploads keeps 80 MB of it. What is free at the
// heap's end is kept up to 8 MB, where uploads that come one by one find room; it grows in small steps, which buffers can't fill.
const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '8388608',
  MALLOC_TOP_PAD_: '16384',
}

function refuse(sentence) {
  process.stderr.write(`Pinhole did not start:\n  ${sentence}\n`)
  process.exit(1)
}

if (process.platform === 'win32') {
  refuse('The server needs Linux or macOS: Windows cannot flush a folder to disk. It runs in WSL.')
}
if (process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0) {
  refuse(
    `The server needs Node ${OLDEST_NODE} or later; this is ${process.versions.node}. In a checkout, npm ci brings one where it is needed.`,
  )
}

// A checkout has its sources; an installed package has them bundled, for Node strips no types in node_modules.
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const server = existsSync(at('../src/node.ts')) ? at('../src/node.ts') : at('../lib/server/node.js')

// The process becomes the server: same pid, so signals and supervisors reach it, and nothing is left of the launcher.
process.execve(
  process.execPath,
  [process.execPath, ...process.execArgv, ...FLAGS, server, ...process.argv.slice(2)],
  { ...ENVIRONMENT, ...process.env },
)
