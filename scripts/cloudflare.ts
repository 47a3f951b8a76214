/** What Cloudflare needs besides the sources: the pages' files, and the ledger's tables as migrations of D1. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildAssets } from '../src/node/assets/build.ts'
import { CREATE_MIGRATIONS, pendingMigrations } from '../src/stores/sql/schema.ts'

const OUT = join(import.meta.dirname, '../dist/cloudflare/migrations')

await buildAssets()
await rm(OUT, { recursive: true, force: true })
await mkdir(OUT, { recursive: true })
for (const { name, statements } of pendingMigrations([], 'sqlite')) {
  await writeFile(join(OUT, `${name}.sql`), [CREATE_MIGRATIONS, ...statements, ''].join(';\n'))
}
