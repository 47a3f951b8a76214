import { readFileSync } from 'node:fs'

/** What package.json says, of a checkout and of the package alike. */
export const manifest: { version: string; packages: { client: string; server: string } } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)
