/**
 * Builds the files to deploy to Cloudflare: the Worker's modules, the page assets, and the ledger's tables as D1 migrations.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { workerModules } from '../build/worker.ts'
import { buildAssets } from '../src/node/assets/build.ts'
import { CREATE_MIGRATIONS, pendingMigrations } from '../src/stores/sql/schema.ts'

const OUT = join(import.meta.dirname, '../dist/cloudflare')

await buildAssets()
await rm(OUT, { recursive: true, force: true })
for (const folder of ['migrations', 'worker']) await mkdir(join(OUT, folder), { recursive: true })
for (const { name, text } of await workerModules()) await writeFile(join(OUT, 'worker', name), text)
for (const { name, statements } of pendingMigrations([], 'sqlite')) {
  await writeFile(join(OUT, 'migrations', `${name}.sql`), [CREATE_MIGRATIONS, ...statements, ''].join(';\n'))
}
