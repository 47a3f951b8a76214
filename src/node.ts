/**
 * Host: Node. Reads the configuration, opens the stores, serves.
 *
 *     node bin/serve.mjs [--help]
 */

import * as modules from 'node:module'

// Later starts find the types stripped and the code compiled: faster, and without the memory that stripping takes.
// Deno has no such thing.
modules.enableCompileCache?.()

const { main } = await import('./node/main.ts')
await main(process.argv.slice(2))
