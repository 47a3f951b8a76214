/** Checks everything that a store holds. Repairs nothing. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sleep } from '../../async.ts'
import { UNSURE_MS } from '../../service/expiry-clock.ts'
import { expiryOf } from '../../service/images/expiry.ts'
import { removedIds, shouldBeHeld } from '../../service/recovery/reconcile.ts'
import { isDamaged } from '../../service/recovery/transfer.ts'
import type { Expiry } from '../../stores/expiries.ts'
import { type CheckedFile, checkFolder } from '../../stores/filesystem/verify.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, storedSize } from '../../stores/object-store.ts'

/** A finding of `verify`. */
export type Finding =
  /** Bytes or record corrupted on disk. */
  | { kind: 'damaged'; id: string; isHeld?: true }
  /** A file that belongs to no image. `path`: relative to the image folder. */
  | { kind: 'stray'; path: string }
  /** An upload's draft left by a dead process. */
  | { kind: 'draft'; path: string }
  /** Expired long ago, but still present. */
  | { kind: 'expired'; id: string }
  /** Removed or deleted according to the ledger, but still present. */
  | { kind: 'removed'; id: string }
  /** Held according to the ledger, but visible. */
  | { kind: 'visible'; id: string }

export interface Verified {
  images: number
  bytes: number
}

/** A younger draft may belong to an upload that is still in progress. */
const DRAFT_MS = 3_600_000

/** Servers remove expired images within this time, even while they are unsure of their clock. */
const EXPIRED_MS = 2 * UNSURE_MS

/** The expected entries of an image folder. */
const KNOWN_NAMES = new Set([
  'objects',
  'incoming',
  'held',
  'removing',
  'removals',
  'retired',
  'layout',
  'strays',
])

/** Concurrent reads, where each is a request. */
const CONCURRENCY = 8

export interface CheckOptions {
  objects: ObjectStore
  ledger: Ledger
  /** The image folder. `null` if images are in S3. */
  folder: string | null
  bytesPerSecond: number | null
  onProgress: (verified: Verified) => void
  /** Called for each image with an expiry, expired or not. */
  onExpiring?: (expiry: Expiry) => Promise<void>
}

export async function* checkImages(options: CheckOptions): AsyncGenerator<Finding> {
  const { folder, objects, ledger } = options
  const verified: Verified = { images: 0, bytes: 0 }
  const gone = new Set<string>()
  /** Reported already: a repair may have held them since, so they would show up again among the held images. */
  const reported = new Set<string>()
  for await (const id of removedIds(ledger)) gone.add(id)
  const held = new Set(await ledger.heldIds(Number.MAX_SAFE_INTEGER))
  const files = folder === null ? checkStore(objects) : checkFolder(join(folder, 'objects'))
  const startedAt = performance.now()
  for await (const checked of files) {
    if (checked.kind === 'stray') yield { kind: 'stray', path: join('objects', checked.name) }
    else {
      const { id, kind, bytes } = checked
      if (gone.has(id)) yield { kind: 'removed', id }
      else if (kind === 'damaged') {
        reported.add(id)
        yield { kind, id }
      } else {
        // The image may have been released since.
        if (held.has(id) && (await shouldBeHeld(id, ledger))) yield { kind: 'visible', id }
        const expiresAt = expiryOf(checked)
        if (expiresAt !== null) await options.onExpiring?.({ id, expiresAt })
        if (expiresAt !== null && Date.now() - expiresAt > EXPIRED_MS) yield { kind: 'expired', id }
      }
      verified.images++
      verified.bytes += bytes
    }
    options.onProgress(verified)
    await keepRate(verified.bytes, startedAt, options.bytesPerSecond)
  }
  for await (const id of objects.listHeld()) {
    if (gone.has(id)) yield { kind: 'removed', id }
    else if (!reported.has(id) && (await isDamaged(id, objects))) yield { kind: 'damaged', id, isHeld: true }
  }
  if (folder !== null) yield* strayFiles(folder)
}

async function* checkStore(objects: ObjectStore): AsyncGenerator<CheckedFile> {
  let inFlight: Promise<CheckedFile | null>[] = []
  for await (const id of objects.list()) {
    inFlight.push(checkObject(objects, id))
    if (inFlight.length < CONCURRENCY) continue
    yield* (await Promise.all(inFlight)).filter((checked) => checked !== null)
    inFlight = []
  }
  yield* (await Promise.all(inFlight)).filter((checked) => checked !== null)
}

async function checkObject(objects: ObjectStore, id: string): Promise<CheckedFile | null> {
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

async function* strayFiles(folder: string): AsyncGenerator<Finding> {
  for (const name of await readdir(folder)) if (!KNOWN_NAMES.has(name)) yield { kind: 'stray', path: name }
  for (const name of await readdir(join(folder, 'incoming'))) {
    const path = join('incoming', name)
    const found = await stat(join(folder, path)).catch(() => null)
    if (found !== null && Date.now() - found.mtimeMs > DRAFT_MS) yield { kind: 'draft', path }
  }
}

async function keepRate(bytes: number, startedAt: number, bytesPerSecond: number | null): Promise<void> {
  // Files are read synchronously, and signals are only handled in between.
  if (bytesPerSecond === null) return setImmediate()
  const aheadMs = (bytes / bytesPerSecond) * 1000 - (performance.now() - startedAt)
  if (aheadMs > 10) await sleep(aheadMs)
}
