/** Looks at all that a store holds. Repairs nothing. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../async.ts'
import { UNSURE_MS } from '../../service/expiry-clock.ts'
import { expiryOf } from '../../service/images/expiry.ts'
import { goneIds, isToBeHeld } from '../../service/recovery/reconcile.ts'
import { isDamaged } from '../../service/recovery/transfer.ts'
import type { Expiry } from '../../stores/expiries.ts'
import { type Audited, auditFolder } from '../../stores/filesystem/verify.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, storedSize } from '../../stores/object-store.ts'

/** A finding of `verify`. */
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

/** A draft of a process elsewhere may be under way for this long. */
const DRAFT_MS = 3_600_000

/** Servers remove what expired within this time, also if they do not know whether their clock is right. */
const EXPIRED_MS = 2 * UNSURE_MS

/** What a folder of images has beside images. */
const KNOWN = new Set(['objects', 'incoming', 'held', 'removing', 'removals', 'retired', 'layout', 'strays'])

/** Reads at once, where each is a request. */
const AT_ONCE = 8

export interface Scan {
  objects: ObjectStore
  ledger: Ledger
  /** Where the images are, if they are in a folder. */
  folder: string | null
  after: string
  /** Also reads what is held. */
  withHeld: boolean
  bytesPerSecond: number | null
  onProgress: (verified: Verified) => void
  /** Hears of each image that is to expire, and of each that has expired. */
  onExpiring?: (expiry: Expiry) => Promise<void>
}

export async function* scan(options: Scan): AsyncGenerator<Finding, Verified> {
  const { folder, after, objects, ledger } = options
  const verified: Verified = { images: 0, bytes: 0, last: after }
  const gone = new Set<string>()
  /** A repair may have held it since. */
  const told = new Set<string>()
  for await (const id of goneIds(ledger)) gone.add(id)
  const held = new Set(await ledger.heldIds(Number.MAX_SAFE_INTEGER))
  const audits = folder === null ? auditStore(objects, after) : auditFolder(join(folder, 'objects'), after)
  const startedAt = performance.now()
  for await (const audited of audits) {
    if (audited.kind === 'stray') yield { kind: 'stray', path: join('objects', audited.name) }
    else {
      const { id, kind, bytes } = audited
      if (gone.has(id)) yield { kind: 'removed', id }
      else if (kind === 'damaged') {
        told.add(id)
        yield { kind, id }
      } else {
        // It may have been released since.
        if (held.has(id) && (await isToBeHeld(id, ledger))) yield { kind: 'visible', id }
        const expiresAt = expiryOf(audited)
        if (expiresAt !== null) await options.onExpiring?.({ id, expiresAt })
        if (expiresAt !== null && Date.now() - expiresAt > EXPIRED_MS) yield { kind: 'expired', id }
      }
      verified.images++
      verified.bytes += bytes
      verified.last = id
    }
    options.onProgress(verified)
    await keepRate(verified.bytes, startedAt, options.bytesPerSecond)
  }
  for await (const id of objects.listHeld()) {
    if (gone.has(id)) yield { kind: 'removed', id }
    else if (options.withHeld && !told.has(id) && (await isDamaged(id, objects)))
      yield { kind: 'damaged', id, isHeld: true }
  }
  if (folder !== null) yield* looseFiles(folder)
  return verified
}

async function* auditStore(objects: ObjectStore, after: string): AsyncGenerator<Audited> {
  let inFlight: Promise<Audited | null>[] = []
  for await (const id of objects.list(after)) {
    inFlight.push(auditObject(objects, id))
    if (inFlight.length < AT_ONCE) continue
    yield* (await Promise.all(inFlight)).filter((audited) => audited !== null)
    inFlight = []
  }
  yield* (await Promise.all(inFlight)).filter((audited) => audited !== null)
}

async function auditObject(objects: ObjectStore, id: string): Promise<Audited | null> {
  try {
    const record = await objects.verify(id)
    return record === null
      ? null
      : { kind: 'sound', id, bytes: storedSize(record), expiresAt: record.expiresAt }
  } catch (error) {
    if (error instanceof DamagedObject) return { kind: 'damaged', id, bytes: 0 }
    throw error
  }
}

async function* looseFiles(folder: string): AsyncGenerator<Finding> {
  for (const name of await readdir(folder)) if (!KNOWN.has(name)) yield { kind: 'stray', path: name }
  for (const name of await readdir(join(folder, 'incoming'))) {
    const path = join('incoming', name)
    const found = await stat(join(folder, path)).catch(() => null)
    if (found !== null && Date.now() - found.mtimeMs > DRAFT_MS) yield { kind: 'draft', path }
  }
}

async function keepRate(bytes: number, startedAt: number, bytesPerSecond: number | null): Promise<void> {
  if (bytesPerSecond === null) return
  const aheadMs = (bytes / bytesPerSecond) * 1000 - (performance.now() - startedAt)
  if (aheadMs > 10) await sleep(aheadMs)
}
