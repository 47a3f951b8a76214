/**
 * How a bucket says where an image is: the same objects for S3 and for R2, so that either host reads what the other wrote.
 *
 * A DELETE does not say whether there was anything to delete, and few stores take a condition on one. So an image is first
 * overwritten, on condition that it is still the one that was read, by a marker of seven bytes that reads as absent: only
 * one process can do that. What is under an image's own key is the image itself or a marker, whose metadata say:
 *
 * - a UUID: removed. Then it is deleted; after a crash, by the next removal of the id.
 * - `retired …`: removed for good. It stays, so that no put that expects nothing succeeds there again.
 * - `held <id>.<uuid>`: the image is the copy `<prefix>held/<id>.<uuid>`. A release overwrites the marker by the bytes
 *   of the copy. A copy that no marker names was left by a process that died; listing held images clears it away.
 * - `unheld <copy> …`, `retired <copy> …`: a held image that is being removed.
 */

/** An object that only marks that its image is being removed. */
export const MARKER_NAME = 'removed'

/** What a marker says whose image is held: `held ` and the name of its copy. */
const HELD = /^held (.+)$/

/** What the marker of a retired id says, before anything else: it stays. */
export const RETIRED = 'retired '

/** What the marker of an image says that was held and is being removed, before the name of its copy. */
export const UNHELD = 'unheld '

/** The same, and of an image whose id is retired. */
export const GOING = new RegExp(`^(?:${UNHELD}|${RETIRED})(\\S+\\.\\S+) `)

/** What markers are told apart by. */
interface Marked {
  /** The text of the marker. `null` for an image. */
  marker: string | null
}

/** The name of the copy, if the image is held and not gone. */
export function heldCopyOf({ marker }: Marked): string | null {
  return HELD.exec(marker ?? '')?.[1] ?? null
}

export function isRetired({ marker }: Marked): boolean {
  return marker?.startsWith(RETIRED) === true
}

/** Which release brought an image back. */
export const RELEASE_NAME = 'release'

/** No image is so small, but the contract's: a listing looks closer at objects of this size. */
export const MARKER = new TextEncoder().encode('removed')

/** As long. What a listing of most stores says of it is its MD5; those that encrypt say something else. */
export const RETIRED_MARKER = new TextEncoder().encode('retired')

/** Every id that sorts after `after` sorts after this, its longest beginning that an id could have. */
export function listingStart(after: string): string {
  return /^[0-9A-Za-z]{0,11}/.exec(after)![0]
}

/** A copy of this age that no marker names has lost its hold, although the clocks of machines differ. */
export const FORSAKEN_COPY_MS = 1_800_000

/** A marker of this age has lost its remover. */
export const FORSAKEN_MARKER_MS = 60_000

/** Each round is lost only to somebody else who moves or removes the same image. */
export const MAX_ROUNDS = 5
