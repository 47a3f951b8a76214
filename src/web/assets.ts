/** Static assets of the pages. */
import type { AssetUrls } from './pages/page.ts'

/** Contents of `assets.json`, written by the build. */
export interface AssetList {
  /** Digest of the sources of this build. */
  sources: string
  files: { path: string; file: string; type: string; brotli: boolean; immutable: boolean }[]
  urls: AssetUrls
}

/** An asset in memory. */
export interface Asset {
  /** URL path, e.g. `/assets/style-1a2b3c4d.css`. */
  path: string
  /** Media type, including the charset where applicable. */
  type: string
  bytes: Uint8Array
  /** Brotli encoding, if smaller. */
  brotli?: Uint8Array
  /** Content-hashed name: may be cached forever. Other assets must be revalidated. */
  immutable: boolean
}
