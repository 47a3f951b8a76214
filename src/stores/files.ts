/** Port: a folder of a few small files, such as backed-up ledgers and tombstones. Each file is always written whole. */

export interface Files {
  /** Creates the folder if it is missing. Its parent must exist: an unmounted disk must not look like an empty one. */
  make(): Promise<void>
  /** Sorted by code unit. Empty if the folder is missing. */
  names(): Promise<string[]>
  /** `null` if there is no such file. */
  read(name: string): Promise<Uint8Array | null>
  /** Creates or replaces a file atomically; durable when it resolves. Throws if the folder is missing. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Idempotent. */
  remove(name: string): Promise<void>
  close(): Promise<void>
}
