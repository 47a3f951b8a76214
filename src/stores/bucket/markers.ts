/**
 * Markers: objects that record in a bucket whether an image is removed, retired or held. S3 and R2 use the same format, so
 * that either host can read what the other wrote.
 *
 * A DELETE does not report whether the object existed, and few stores support conditional deletes. So a removal first
 * overwrites the image with a seven-byte marker, on condition that its ETag has not changed; only one process can succeed.
 * A marker reads as an absent image. The key of an image holds either the image or a marker, with one of these texts in its
 * metadata:
 *
 * - a UUID: removed. The marker is deleted next; after a crash, by the next removal of the ID.
 * - `retired …`: removed for good. The marker stays, so that no put with `If-None-Match: *` can succeed there again.
 * - `held <id>.<uuid>`: the image is in the copy `<prefix>held/<id>.<uuid>`. A release overwrites the marker with the bytes
 *   of the copy. A copy that no marker names was left by a crashed process; listing held images removes it.
 * - `unheld <copy> …`, `retired <copy> …`: the removal of a held image is in progress.
 */

/** Metadata name of a marker's text. */
export const MARKER_NAME = 'removed'

/** Marker of a held image, with the name of its copy. */
const HELD = /^held (.+)$/

/** Prefix of the marker of a retired ID. This marker is permanent. */
export const RETIRED = 'retired '

/** Prefix of the marker of a held image that is being removed. The name of its copy follows. */
export const UNHELD = 'unheld '

/** Marker of a held image whose removal is in progress, with the name of its copy. */
export const HELD_REMOVAL = new RegExp(`^(?:${UNHELD}|${RETIRED})(\\S+\\.\\S+) `)

interface Marked {
  /** The text of the marker. `null` for an image. */
  marker: string | null
}

/** Name of the copy of a held image. `null` unless the image is held. */
export function heldCopyOf({ marker }: Marked): string | null {
  return HELD.exec(marker ?? '')?.[1] ?? null
}

export function isRetired({ marker }: Marked): boolean {
  return marker?.startsWith(RETIRED) === true
}

/** Metadata name of the token of the release that restored an image. */
export const RELEASE_NAME = 'release'

/** Body of a marker. A listing inspects objects of this size; no real image is this small, only those of the contract tests. */
export const MARKER = new TextEncoder().encode('removed')

/** Body of a retired ID's marker, of the same length. Most stores list its MD5 as the ETag; encrypting stores do not. */
export const RETIRED_MARKER = new TextEncoder().encode('retired')

/** The longest prefix of `after` that an ID could have. Every ID that sorts after `after` also sorts after this prefix. */
export function listingStart(after: string): string {
  return /^[0-9A-Za-z]{0,11}/.exec(after)![0]
}

/** Age at which a copy that no marker names counts as abandoned. Generous, because clocks of machines differ. */
export const ABANDONED_COPY_MS = 1_800_000

/** Age at which the removal that a marker stands for counts as abandoned. */
export const ABANDONED_MARKER_MS = 60_000

/** Maximum attempts of an operation. One fails only if another process moves or removes the same image concurrently. */
export const MAX_ATTEMPTS = 5
