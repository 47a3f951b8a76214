import { readFileSync } from 'node:fs'

/** package.json, of a checkout or of the installed package. */
export const manifest: { version: string; packages: { server: string } } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)
