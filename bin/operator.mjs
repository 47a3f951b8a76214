#!/usr/bin/env node
// The operator's commands, on the data of a running server: `npm run operator`, and a command of the server's package.
// Plain JavaScript, so that an old Node prints a clear message instead of a syntax error.
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

// The oldest version whose SQLite is recent enough for the ledger.
const OLDEST_NODE = '24.15'

if (process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `The operator's commands need Node ${OLDEST_NODE} or later; this is ${process.versions.node}. In a checkout, npm ci installs a newer one.\n`,
  )
  process.exit(1)
}

// A checkout has the sources. An installed package has a bundle, because Node strips no types in node_modules.
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const program = existsSync(at('../src/node/operator.ts'))
  ? at('../src/node/operator.ts')
  : at('../lib/server/operator.js')

// Experimental-feature warnings don't belong in cron mails, as they don't in the server's log. The program copes if such a
// feature changes.
process.execve(
  process.execPath,
  [
    process.execPath,
    ...process.execArgv,
    '--disable-warning=ExperimentalWarning',
    program,
    ...process.argv.slice(2),
  ],
  process.env,
)
