/**
 * How a bucket says where an image is: the same objects for S3 and for R2, so that either host reads what the other wrote.
 * What is under an image's own key is the image itself, or a tombstone whose metadata say why it is none.
 */

/** An object that only marks that its image is being removed. */
export const TOMBSTONE_NAME = 'removed'

/** What a tombstone says whose image is held: `held ` and the name of its copy. */
const HELD = /^held (.+)$/

/** What the tombstone of a retired id says, before anything else: it stays. */
export const RETIRED = 'retired '

/** What the tombstone of an image says that was held and is being removed, before the name of its copy. */
export const UNHELD = 'unheld '

/** The same, and of an image whose id is retired. */
export const GOING = new RegExp(`^(?:${UNHELD}|${RETIRED})(\\S+\\.\\S+) `)

/** What tombstones are told apart by. */
interface Marked {
  /** The text of the tombstone. `null` for an image. */
  tombstone: string | null
}

/** The name of the copy, if the image is held and not gone. */
export function heldCopyOf({ tombstone }: Marked): string | null {
  return HELD.exec(tombstone ?? '')?.[1] ?? null
}

export function isRetired({ tombstone }: Marked): boolean {
  return tombstone?.startsWith(RETIRED) === true
}

/** Which release brought an image back. */
export const RELEASE_NAME = 'release'

/** No image is so small, but the contract's: a listing looks closer at objects of this size. */
export const TOMBSTONE = new TextEncoder().encode('removed')

/** As long. What a listing of most stores says of it is its MD5; those that encrypt say something else. */
export const RETIRED_TOMBSTONE = new TextEncoder().encode('retired')

/** Where copies of held images are. */
export function heldFolder(prefix: string): string {
  return `${prefix}held/`
}

/** Every id that sorts after `after` sorts after this, its longest beginning that an id could have. */
export function listingStart(after: string): string {
  return /^[0-9A-Za-z]{0,11}/.exec(after)![0]
}

/** A copy of this age that no tombstone names has lost its hold, although the clocks of machines differ. */
export const FORSAKEN_COPY_MS = 1_800_000

/** A tombstone of this age has lost its remover. */
export const FORSAKEN_TOMBSTONE_MS = 60_000

/** Each round is lost only to somebody else who moves or removes the same image. */
export const MAX_ROUNDS = 5
