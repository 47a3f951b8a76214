/** What `verify` finds. */
export type Finding =
  /** Bytes or record changed on the disk. */
  | { kind: 'damaged'; id: string; isHeld?: true }
  /** A file that belongs to no image. `path`: in the folder of images. */
  | { kind: 'stray'; path: string }
  /** What a dead process left of an upload. */
  | { kind: 'draft'; path: string }
  /** Expired long ago, and there. */
  | { kind: 'expired'; id: string }
  /** Removed or deleted by the ledger, and there. */
  | { kind: 'removed'; id: string }
  /** Held by the ledger, and visible. */
  | { kind: 'visible'; id: string }

export interface Verified {
  images: number
  bytes: number
  /** Where to go on. */
  last: string
}
