#!/usr/bin/env node
// Starts the server: `npm start`, the Docker image, the systemd unit and `pinhole serve` all run this file.
// Plain JavaScript, so that an old Node prints a clear message instead of a syntax error.
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { ENVIRONMENT, FLAGS } from './tuning.mjs'

// The oldest version whose SQLite is recent enough for the ledger.
const OLDEST_NODE = '24.15'

function refuse(message) {
  process.stderr.write(`Pinhole did not start:\n  ${message}\n`)
  process.exit(1)
}

if (process.platform === 'win32') {
  refuse('The server needs Linux or macOS: Windows cannot flush a folder to disk. On Windows, use WSL.')
}
if (process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0) {
  refuse(
    `The server needs Node ${OLDEST_NODE} or later; this is ${process.versions.node}. In a checkout, npm ci installs a newer one.`,
  )
}

// A checkout has the sources. An installed package has a bundle, because Node strips no types in node_modules.
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const server = existsSync(at('../src/node.ts')) ? at('../src/node.ts') : at('../lib/server/node.js')

// Replaces this process: same PID, so signals and supervisors reach the server, and no launcher process remains.
process.execve(
  process.execPath,
  [process.execPath, ...process.execArgv, ...FLAGS, server, ...process.argv.slice(2)],
  { ...ENVIRONMENT, ...process.env },
)
