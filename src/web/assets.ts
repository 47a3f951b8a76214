/** Files that pages load. */
import type { AssetUrls } from './pages/page.ts'

/** As the build leaves it in `assets.json`. */
export interface AssetList {
  /** Digest of the sources that it was made from. */
  sources: string
  files: { path: string; file: string; type: string; brotli: boolean; immutable: boolean }[]
  urls: AssetUrls
}

/** One of them, whole in memory. */
export interface Asset {
  /** From the root of the service, e.g. `/assets/style-1a2b3c4d.css`. */
  path: string
  /** Media type, with its charset where it has one. */
  type: string
  bytes: Uint8Array
  /** The same bytes in brotli, if that is shorter. */
  brotli?: Uint8Array
  /** The name changes with the content: it may be kept for good. Otherwise it must be asked for each time. */
  immutable: boolean
}
