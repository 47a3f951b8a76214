/** Port: a few small files in one place: ledgers of backups, tombstones. Each is written whole and never changed in part. */

export interface Files {
  /** Makes the place if it is missing. Its parent must be there: a disk that is not mounted must not look like an empty one. */
  make(): Promise<void>
  /** In order of code units. None if the place is missing. */
  names(): Promise<string[]>
  /** `null` if there is none. */
  read(name: string): Promise<Uint8Array | null>
  /**
   * Durable when it resolves, and whole or not there if the process dies. Replaces what has the name. Throws if the place
   * is missing.
   */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Harmless if there is none. */
  remove(name: string): Promise<void>
  close(): Promise<void>
}
