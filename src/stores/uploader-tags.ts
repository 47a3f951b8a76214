/**
 * Port: tags that link uploads of one uploader. Part of the ledger: `ledger.ts` says how methods resolve and throw.
 */

/** Length of a tag. Unit: characters. */
export const TAG_LENGTH = 32

/** Leading characters of a tag that identify the network; the rest identify the address. */
export const NETWORK_TAG_LENGTH = 16

/**
 * Tags of one upload. Uploads by one uploader have at least one tag in common; uploads from one network have at least the
 * first `NETWORK_TAG_LENGTH` characters of a tag in common.
 */
export interface UploaderTags {
  /** Image ID. Has several rows if the image was sent again. */
  id: string
  /** Epoch milliseconds. */
  atMs: number
  /** Random: distinguishes rows of the same millisecond. */
  number: number
  tagA: string
  tagB: string
}

export interface UploaderTagLedger {
  /** IDs of uploads that share a tag with this one, newest first, at most `limit`. */
  sameUploader(id: string, limit: number): Promise<string[]>
  /** IDs of uploads from the same network, newest first, at most `limit`. */
  sameNetwork(id: string, limit: number): Promise<string[]>
  /** IDs of uploads between `from` (inclusive) and `to` (exclusive), epoch milliseconds, newest first, at most `limit`. */
  uploadedBetween(from: number, to: number, limit: number): Promise<string[]>
  /** Forgets tags of uploads before `atMs`, and tag salts of days before `saltDay`. */
  forgetTagsBefore(atMs: number, saltDay: string): Promise<void>
}
