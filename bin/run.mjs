// `node bin/run.mjs FILE …` runs a TypeScript file of a checkout. The npm scripts that people run first go through it.
// Plain JavaScript, so that an old Node prints a clear message instead of a syntax error.
import { resolve } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

// The oldest version whose SQLite is recent enough for the ledger.
const OLDEST_NODE = '24.15'

if (process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `Pinhole needs Node ${OLDEST_NODE} or later; this is ${process.versions.node}. Run npm ci, which installs a newer one.\n`,
  )
  process.exit(1)
}
process.argv.splice(1, 1)
process.argv[1] = resolve(process.argv[1])
await import(pathToFileURL(process.argv[1]).href)
