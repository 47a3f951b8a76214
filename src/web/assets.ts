/** Files that pages load, whole in memory. */
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
