#!/usr/bin/env node
// The operator's commands, on the data of a running server: `npm run operator`, and a command of the server's package.
// Plain JavaScript that any Node can read, so that an old one gets a sentence instead of a syntax error.
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

// It has the SQLite that the ledger needs.
const OLDEST_NODE = '24.15'

if (process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `The operator's commands need Node ${OLDEST_NODE} or later; this is ${process.versions.node}. In a checkout, npm ci brings one where it is needed.\n`,
  )
  process.exit(1)
}

// A checkout has its sources; an installed package has them bundled, for Node strips no types in node_modules.
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const program = existsSync(at('../src/node/operator.ts'))
  ? at('../src/node/operator.ts')
  : at('../lib/server/operator.js')

// As the server's own log, a mail of cron needs no word about interfaces of Node that may change: where one is not as
// expected, the program does without it.
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
