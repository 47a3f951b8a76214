/** Publishing: from a request body to a stored image, at most once per identity. */

import { createInFlight, createSemaphore, type Semaphore } from '../../async.ts'
import { Refusal } from '../../errors.ts'
import { CHUNK_BYTES, isWhole, lengthOf, readSegments, type Segment } from '../../formats/image.ts'
import type { InspectedUpload } from '../../formats/inspect-upload.ts'
import type { ScanTarget, Verdict } from '../../scan/scanner.ts'
import type { Absence } from '../../stores/holds.ts'
import type { Ledger } from '../../stores/ledger.ts'
import {
  type Draft,
  digestsOf,
  IdTaken,
  type ImageRecord,
  type ObjectStore,
  type Preview,
  removeAnywhere,
  StoreFull,
  StoreUnavailable,
  storedSize,
} from '../../stores/object-store.ts'
import type { ExpiryClock } from '../expiry-clock.ts'
import type { Hashes } from '../hashes.ts'
import type { Moves } from '../moderation/moves.ts'
import { type ScanGate, scanDueAt } from '../moderation/scan-gate.ts'
import type { ClientAddress } from '../quota/quota.ts'
import { expiryAfter, isExpired } from './expiry.ts'
import { type Identity, randomIdentity } from './identities.ts'
import { equalInConstantTime } from './ids.ts'

export interface Published {
  record: ImageRecord
  key: string
  /** An earlier request with the same identity and bytes already stored the image. */
  isRepeat: boolean
}

export interface PublishOptions {
  /** Upper bound announced by Content-Length. Unit: bytes. */
  maxBytes?: number
  /** Default: a random identity. */
  identity?: Identity
  /** Unit: seconds. `null` (default): until it is deleted. */
  lifetimeSeconds?: number | null
  /** The address's uploads today, including this one. Default: 0. */
  used?: number
  /** Default: no address. */
  uploader?: ClientAddress
  /** Called with the stored size before anything is stored. Its errors are rethrown. */
  beforeStored?: (bytes: number) => Promise<void>
  /** Called when `publish` is about to throw but the image stays stored, as a concurrent retry may have reported success. */
  onStored?: () => void
}

type Storing = Required<
  Pick<PublishOptions, 'lifetimeSeconds' | 'used' | 'uploader' | 'beforeStored' | 'onStored'>
>

/**
 * Stores an image durably. Throws `Refusal` and whatever `body` throws; in that case nothing is stored, unless `onStored` was
 * called.
 */
export type Publish = (body: AsyncIterable<Uint8Array>, options?: PublishOptions) => Promise<Published>

const DELETED =
  'The image sent with this Idempotency-Key was deleted or has expired. Use a new key to send it again.'

/** Concurrent reads of large drafts (more than one chunk). Limited, as their chunks would fill the memory. */
const MAX_LARGE_READS = 4
/**
 * Concurrent inspections of small drafts. These are already in memory, and most take a single step; but decompression, on
 * libuv's threads, can yield a thousand times their size. Four keep as many cores busy and leave threads for views and
 * flushes.
 */
const MAX_SMALL_INSPECTIONS = 4
/** An upload that took longer to store may have met a decision about its bytes. Others are spared another statement. */
const SLOW_MS = 1000
/** When an image is scanned again because its verdict was not carried out: its process died. */
const VERDICT_MS = 60_000
/** Concurrent commits of large drafts. A commit uses less memory and may wait for a remote store. */
const MAX_LARGE_COMMITS = 64

export function createPublish(parts: {
  objects: ObjectStore
  ledger: Pick<
    Ledger,
    'withheldReason' | 'absenceReason' | 'recordExpiries' | 'recordScan' | 'hideForScan' | 'endScan'
  >
  maxUploadBytes: number
  stripMetadata: boolean
  hashes: Hashes
  now: () => number
  expiryClock: Pick<ExpiryClock, 'latest'>
  /** `undefined`: scanning is disabled. */
  scans?: {
    gate: ScanGate
    moves: Pick<Moves, 'carryOut'>
    carryOut(record: ImageRecord, verdict: Verdict): Promise<unknown>
  }
}): Publish {
  const { objects, ledger, hashes, expiryClock, scans } = parts
  const largeReads = createSemaphore(MAX_LARGE_READS)
  const smallInspections = createSemaphore(MAX_SMALL_INSPECTIONS)
  const largeCommits = createSemaphore(MAX_LARGE_COMMITS)

  /** Commits of derived identities, by ID: a concurrent retry waits for the first request. */
  const inFlight = createInFlight()

  /** Stores the image at most once per identity, across all processes. */
  async function storeOnce(draft: Draft, identity: Identity, storing: Storing): Promise<Published> {
    const earlier = await stored(identity, draft).catch(discarding(draft))
    if (earlier !== null) {
      await draft.discard()
      return earlier
    }
    try {
      const { isHeld, ...published } = await store(draft, identity, storing)
      if (isHeld) return published
      // The operator may have held or removed the image in the meantime.
      await assertNotTakenDown(identity.id).catch(async (error) => {
        // Keeps a held image, which may be released, and any image if the ledger failed, which says nothing about the
        // operator's decision: a concurrent retry may have reported it as stored.
        if (error instanceof Refusal && error.code !== 'held') await objects.remove(identity.id)
        else storing.onStored()
        throw error
      })
      return published
    } catch (error) {
      // The draft is discarded, but its digest is known since it was examined.
      const winner = error instanceof IdTaken ? await stored(identity, draft) : null
      if (winner !== null) return winner
      throw error
    }
  }

  /** The image stored by an earlier request. Throws `Refusal` if its bytes differ or the image is gone. */
  async function stored({ id, key }: Identity, draft: Draft): Promise<Published | null> {
    const record = (await objects.headDurable(id)) ?? (await unscanned(id))
    if (record === null || record === 'retired') {
      await assertNotTakenDown(id)
      if (record === 'retired') throw takenDown({ state: 'deleted', rule: '' })
      return null
    }
    // The derived ID collided with another uploader's image.
    if (!equalInConstantTime(record.keySha256, hashes.sha256(key))) throw new IdTaken()
    if (isExpired(record, expiryClock)) throw takenDown({ state: 'deleted', rule: '' })
    if (record.sentSha256 === (await sentDigest(draft))) {
      if (scans !== undefined) await hide(id)
      return { record, key, isRepeat: true }
    }
    throw new Refusal(
      'idempotency-key-reused',
      'This Idempotency-Key was already used for a different image.',
    )
  }

  function sentDigest(draft: Draft): Promise<string> {
    const whole = () => draft.digest([{ offset: 0, length: draft.size }])
    const digest = draft.size > CHUNK_BYTES ? largeReads.run(whole) : whole()
    return digest.catch(discarding(draft))
  }

  /** `isHeld`: by the verdict on this upload. */
  async function store(
    draft: Draft,
    { id, key, isDerived }: Identity,
    { lifetimeSeconds, used, uploader, beforeStored, onStored }: Storing,
  ): Promise<Published & { isHeld: boolean }> {
    const limited = <T>(semaphore: Semaphore, work: () => Promise<T>) =>
      draft.size > CHUNK_BYTES ? semaphore.run(work) : work()
    const inspected = await limited(largeReads, () => examine(draft)).catch(discarding(draft))
    const { segments, scanTargets, checkedAt, ...facts } = inspected
    const record: ImageRecord = {
      id,
      ...facts,
      keySha256: hashes.sha256(key),
      createdAt: new Date(parts.now()).toISOString(),
    }
    await beforeStored(storedSize(record)).catch(discarding(draft))
    const decision = await scans?.gate(scanTargets, record, uploader).catch(discarding(draft))
    const storeAs = decision?.storeAs ?? 'scanned'
    const verdict = decision?.verdict ?? null
    if (lifetimeSeconds !== null) {
      record.expiresAt = expiryAfter(expiryClock.latest(), lifetimeSeconds)
      // First, so that a crash never leaves bytes without an expiry.
      await ledger.recordExpiries([{ id, expiresAt: Date.parse(record.expiresAt) }]).catch(discarding(draft))
    }
    if (storeAs !== 'scanned') {
      const at = parts.now()
      const dueAt = verdict === null ? scanDueAt(at, used) : at + VERDICT_MS
      // With a verdict, `SCAN_FAULT` may only show or remove the image once a second scan is overdue too.
      const scan = { id, at: verdict === null ? at : dueAt, dueAt, isHidden: storeAs === 'hidden' }
      await ledger.recordScan(scan).catch(discarding(draft))
    }
    // `commit` disposes of the draft, even if it fails.
    await limited(largeCommits, () => draft.commit(record, segments, { isContended: isDerived }))
    try {
      if (verdict !== null) {
        await scans!.carryOut(record, verdict)
        await ledger.endScan({ id, claim: 0 }, 'dropped')
      } else if (storeAs === 'hidden') await hide(id)
      if (scans !== undefined || performance.now() - checkedAt > SLOW_MS)
        await assertStillAdmitted(record, isDerived)
    } catch (error) {
      if (!(error instanceof Refusal)) onStored()
      throw error
    }
    return { record, key, isRepeat: false, isHeld: verdict !== null && storeAs === 'hidden' }
  }

  /**
   * The operator may have blocked or held the same bytes in the meantime. Removes the image then: nobody knows its ID yet,
   * unless it is derived.
   */
  async function assertStillAdmitted(record: ImageRecord, isDerived: boolean): Promise<void> {
    const why = await withheldReason(record)
    if (why === null || (why === 'held' && isDerived)) return
    // A decision about this very image stands.
    const own = await ledger.absenceReason(record.id)
    if (own !== null && own.state !== 'scanning') return
    await removeAnywhere(objects, record.id)
    throw withheld(why)
  }

  function withheldReason(image: Parameters<typeof digestsOf>[0]): Promise<'blocked' | 'held' | null> {
    return ledger.withheldReason(digestsOf(image))
  }

  /** Releases its permit before anything else is awaited, so that a slow ledger cannot delay other inspections. */
  async function inspectLimited(draft: Draft): Promise<InspectedUpload> {
    // Loaded at the first upload, so that a Worker starts with less code.
    const { inspectUpload } = await import('../../formats/inspect-upload.ts')
    const inspect = () => inspectUpload(draft, { strip: parts.stripMetadata }).catch(blameFile)
    // A large draft already holds a permit for all of its reads.
    return draft.size > CHUNK_BYTES ? inspect() : smallInspections.run(inspect)
  }

  /** Inspects a draft and checks everything it may be refused for. */
  async function examine(draft: Draft) {
    if (draft.size === 0) throw new Refusal('missing-file', 'The file is empty.')
    const inspected = await inspectLimited(draft)
    const { type, width, height, animated } = inspected.image
    const { segments } = inspected.image
    const sha256 = await draft.digest(segments)
    // Second: the draft resumes hashing where an image that precedes its preview ends.
    const all = [{ offset: 0, length: draft.size }]
    const sentSha256 = isWhole(segments, draft.size) ? sha256 : await draft.digest(all)
    const preview = inspected.preview && (await previewOf(draft, inspected.preview))
    const size = lengthOf(segments)
    const facts = { type, width, height, animated, size, sha256, sentSha256, ...(preview && { preview }) }
    // Before the answer, which may reach this process late.
    const checkedAt = performance.now()
    const why = await withheldReason(facts)
    if (why !== null) throw withheld(why)
    const scanTargets: ScanTarget[] = [scanTarget({ type, size, sha256 }, segments)]
    if (preview !== null && inspected.preview !== null) {
      scanTargets.push(scanTarget(preview, inspected.preview.segments))
    }
    return { ...facts, segments: inspected.segments, scanTargets, checkedAt }

    function scanTarget(facts: Omit<ScanTarget, 'bytes'>, segments: Segment[]): ScanTarget {
      return { ...facts, bytes: () => readSegments(draft, segments) }
    }
  }

  /**
   * Hides the image until it is scanned. Nobody knows its ID yet. If the process dies first, `scanning.ts` hides it later.
   */
  async function hide(id: string): Promise<void> {
    if (await ledger.hideForScan(id)) await scans?.moves.carryOut(id)
  }

  /**
   * The record of an image that is hidden until it is scanned. Falls back to the visible one, as the scan may just have
   * ended.
   */
  async function unscanned(id: string): Promise<ImageRecord | 'retired' | null> {
    if (scans === undefined) return null
    const isHidden = (await ledger.absenceReason(id))?.state === 'scanning'
    return (isHidden ? await objects.headHeld(id) : null) ?? objects.headDurable(id)
  }

  async function assertNotTakenDown(id: string): Promise<void> {
    const why = await ledger.absenceReason(id)
    if (why !== null && why.state !== 'scanning') throw takenDown(why)
  }

  return async (
    body,
    {
      maxBytes = Number.POSITIVE_INFINITY,
      identity = randomIdentity(),
      lifetimeSeconds = null,
      used = 0,
      uploader = { address: '', network: '' },
      beforeStored = async () => {},
      onStored = () => {},
    } = {},
  ) => {
    const draft = await objects.draft(body, Math.min(parts.maxUploadBytes, maxBytes))
    const storing = { lifetimeSeconds, used, uploader, beforeStored, onStored }
    if (!identity.isDerived) return store(draft, identity, storing)
    return inFlight.run(identity.id, () => storeOnce(draft, identity, storing))
  }
}

/** The refusal for an absent image. Only a request with the same `Idempotency-Key` learns that its uploader deleted it. */
export function takenDown({ state, rule }: Absence): Refusal {
  switch (state) {
    case 'held':
      return new Refusal('held', 'This image is being reviewed.')
    case 'scanning':
      return new Refusal('held', 'This image is being checked before it is shown.')
    case 'removed':
      return new Refusal('removed', 'This image was removed by the operator of this server.', { rule })
    case 'deleted':
      return new Refusal('idempotency-key-reused', DELETED)
  }
}

/** The refusal for bytes that are blocked, or that belong to a held image. */
function withheld(why: 'blocked' | 'held'): Refusal {
  return why === 'blocked'
    ? new Refusal('blocked-image', 'This image was removed and blocked by the operator of this server.')
    : new Refusal(
        'held',
        'This image is under review by the operator and cannot be uploaded until that is done.',
      )
}

/**
 * An inspector threw something other than a `Refusal`: a bug in the server. Counts as a refused upload all the same;
 * otherwise a client could send such files without limit.
 */
export class InspectionFailure extends Error {
  override name = 'InspectionFailure'
}

function blameFile(cause: unknown): never {
  const isCausedByFile = !(
    cause instanceof Refusal ||
    cause instanceof StoreFull ||
    cause instanceof StoreUnavailable
  )
  throw isCausedByFile ? new InspectionFailure('an image could not be inspected', { cause }) : cause
}

/** Error handler that discards the draft and rethrows. */
function discarding(draft: Draft) {
  return async (error: unknown): Promise<never> => {
    await draft.discard()
    throw error
  }
}

async function previewOf(
  draft: Draft,
  { type, width, height, segments }: NonNullable<InspectedUpload['preview']>,
): Promise<Preview> {
  return { type, size: lengthOf(segments), width, height, sha256: await draft.digest(segments) }
}
