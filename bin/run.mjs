// `node bin/run.mjs FILE …` runs a TypeScript file of a checkout: npm scripts that people start first go through it.
// Plain JavaScript that any Node can read, so that an old one gets a sentence instead of a syntax error.
import { resolve } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

// It has the SQLite that the ledger needs.
const OLDEST_NODE = '24.15'

if (process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `Pinhole needs Node ${OLDEST_NODE} or later; this is ${process.versions.node}. Run npm ci, which brings one where it is needed.\n`,
  )
  process.exit(1)
}
process.argv.splice(1, 1)
process.argv[1] = resolve(process.argv[1])
await import(pathToFileURL(process.argv[1]).href)
