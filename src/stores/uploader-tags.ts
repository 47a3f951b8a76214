/** Port: tags of uploads, by which uploads of one uploader are found. A part of the ledger. Methods throw as those of `ledger.ts` do. */

/** Characters of a tag. */
export const TAG_LENGTH = 32

/** Leading characters of a tag that identify the network; the rest identify the address. */
export const NETWORK_TAG_LENGTH = 16

/**
 * The tags of one upload. Uploads of one uploader share at least one of them; those of one network at least the first
 * `NETWORK_TAG_LENGTH` characters of one.
 */
export interface UploaderTags {
  /** Id of the image. It has several rows if it was sent again. */
  id: string
  /** Epoch milliseconds. */
  atMs: number
  /** Random, so that rows of the same millisecond differ. */
  number: number
  tagA: string
  tagB: string
}

export interface UploaderTagLedger {
  /** Ids of uploads that share a tag with this one, the newest first, at most `limit`. */
  sameUploader(id: string, limit: number): Promise<string[]>
  /** The same of uploads from its network. */
  sameNetwork(id: string, limit: number): Promise<string[]>
  /** Ids of uploads from `from` on and before `to`, in epoch milliseconds, the newest first, at most `limit`. */
  uploadedBetween(from: number, to: number, limit: number): Promise<string[]>
  /** Forgets tags of uploads before `atMs`, and their salts of days before `saltDay`. */
  forgetTagsBefore(atMs: number, saltDay: string): Promise<void>
}
