#!/usr/bin/env node
// Starts the server: `npm start`, the Docker image, the systemd unit and `pinhole serve` all run this file.
// Plain JavaScript that any Node can read, so that an old one gets a sentence instead of a syntax error.
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { ENVIRONMENT, FLAGS } from './tuning.mjs'

// It has the SQLite that the ledger needs.
const OLDEST_NODE = '24.15'

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
