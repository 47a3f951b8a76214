/**
 * `npm run packages`: the two packages that are published, as folders in `dist/packages/`: the client with the command,
 * and the server. Their names stand in package.json.
 */
import { rm } from 'node:fs/promises'
import { buildClient } from './packages/client.ts'
import { PACKAGES } from './packages/places.ts'
import { buildServer } from './packages/server.ts'

await rm(PACKAGES, { recursive: true, force: true })
await buildClient()
await buildServer()
