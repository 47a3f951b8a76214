/** Port: which uploads came from one uploader. A part of the ledger. Methods throw as those of `ledger.ts` do. */

/** Whose an upload is, without an address. */
export interface UploaderLink {
  /** Of the image. It has several links if it was sent again. */
  id: string
  /** Epoch milliseconds. */
  atMs: number
  /** Random, so that links of the same millisecond differ. */
  number: number
  tagA: string
  tagB: string
}

export interface LinkLedger {
  /** Ids of uploads that share a tag with this one, the newest first, at most `limit`. */
  sameUploader(id: string, limit: number): Promise<string[]>
  /** Forgets links of uploads before `atMs`, and salts of links of days before `saltDay`. */
  forgetUploadsBefore(atMs: number, saltDay: string): Promise<void>
}
