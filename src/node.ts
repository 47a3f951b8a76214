/**
 * Host: Node. Reads the configuration, opens the stores, serves.
 *
 *     node bin/serve.mjs [--help]
 */

import * as modules from 'node:module'

// Later starts load stripped and compiled code from the cache: faster, and without the memory that type stripping takes.
// Deno does not have it.
modules.enableCompileCache?.()

const { main } = await import('./node/main.ts')
await main(process.argv.slice(2))
