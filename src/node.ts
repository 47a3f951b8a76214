/**
 * Host: Node. Reads the configuration, opens the stores, serves.
 *
 *     node src/node.ts [--help]
 */

import { enableCompileCache } from 'node:module'

// Later starts find the types stripped and the code compiled: faster, and without the memory that stripping takes.
enableCompileCache()

// The pool flushes files for many uploads at once; more threads only wait for each other's locks. It takes its size when
// it is first used, so before all imports.
process.env.UV_THREADPOOL_SIZE ??= '8'

const { main } = await import('./node/main.ts')
await main(process.argv.slice(2))
