/** From a body to a stored image, once for each identity. */

import { createInFlight, createSemaphore, type Semaphore } from '../../async.ts'
import { Refusal } from '../../errors.ts'
import { bytesOf, isWhole, lengthOf, PIECE_BYTES, type Segment } from '../../formats/image.ts'
import { type InspectedUpload, inspectUpload } from '../../formats/inspect-upload.ts'
import type { Scanned } from '../../scan/scanner.ts'
import type { WhyAbsent } from '../../stores/holds.ts'
import type { Ledger } from '../../stores/ledger.ts'
import {
  type Draft,
  digestsOf,
  IdTaken,
  type ImageRecord,
  type ObjectStore,
  type Preview,
  StoreFull,
  StoreUnavailable,
  storedSize,
} from '../../stores/object-store.ts'
import type { ExpiryClock } from '../expiry-clock.ts'
import type { Hashes } from '../hashes.ts'
import type { Moves } from '../moderation/moves.ts'
import type { ScanGate } from '../moderation/scan-gate.ts'
import { expiryAfter, isExpired } from './expiry.ts'
import { drawIdentity, type Identity } from './identities.ts'
import { equalInConstantTime } from './ids.ts'

export interface Published {
  record: ImageRecord
  key: string
  /** It was stored before, by a request of the same identity with the same bytes. */
  isRepeat: boolean
}

export interface PublishOptions {
  /** More than this is known not to come. Unit: bytes. */
  maxBytes?: number
  /** Default: one that is drawn. */
  identity?: Identity
  /** How long it stays. Unit: seconds. Default: until it is deleted. */
  lifetimeSeconds?: number | null
  /** Called before anything is stored, in `bytes`. What it throws is thrown. */
  beforeStored?: (bytes: number) => Promise<void>
  /** Called before `publish` throws although the image is stored, and stays: a repeat may have been told so already. */
  onKept?: () => void
}

type Storing = Required<Pick<PublishOptions, 'lifetimeSeconds' | 'beforeStored' | 'onKept'>>

/**
 * Stores an image. When it resolves, the image survives a crash. Throws `Refusal`, and what `body` throws; then nothing is
 * stored, unless `onKept` was called.
 */
export type Publish = (body: AsyncIterable<Uint8Array>, options?: PublishOptions) => Promise<Published>

const DELETED =
  'The image that was sent under this Idempotency-Key was deleted or expired. Send this one under a new key.'

/** Reading a draft of more than a piece takes many reads: not all clients' at once, or the pieces fill the memory. */
export const LARGE_READS_AT_ONCE = 4
/**
 * Small ones are in memory already, and most are inspected in one go. What is unpacked from one may be a thousand times its size;
 * it is unpacked on libuv's threads. Four keep as many processors busy, and leave threads for views and flushes.
 */
export const SMALL_INSPECTIONS_AT_ONCE = 4
/** A commit holds less, and waits for a store that may be far away. */
export const LARGE_COMMITS_AT_ONCE = 64

export function createPublish(parts: {
  objects: ObjectStore
  ledger: Pick<Ledger, 'whyWithheld' | 'whyAbsent' | 'recordExpiries' | 'recordScan' | 'hideScanned'>
  maxUploadBytes: number
  stripMetadata: boolean
  hashes: Hashes
  now: () => number
  expiryClock: Pick<ExpiryClock, 'latest'>
  /** Absent: nothing is scanned. */
  scans?: { gate: ScanGate; moves: Pick<Moves, 'carryOut'> }
}): Publish {
  const { objects, ledger, hashes, expiryClock, scans } = parts
  const largeReads = createSemaphore(LARGE_READS_AT_ONCE)
  const smallInspections = createSemaphore(SMALL_INSPECTIONS_AT_ONCE)
  const largeCommits = createSemaphore(LARGE_COMMITS_AT_ONCE)

  /** Commits of derived identities, by id: a repeat that comes meanwhile waits for the first. */
  const inFlight = createInFlight()

  /** Among all requests of one identity, in all processes, one stores the image. */
  async function storeOnce(draft: Draft, identity: Identity, storing: Storing): Promise<Published> {
    const digest = await sentDigest(draft)
    const earlier = await stored(identity, digest).catch(discarding(draft))
    if (earlier !== null) {
      await draft.discard()
      return earlier
    }
    try {
      const published = await store(draft, identity, storing)
      // The operator may have held or removed it since it was looked for.
      await assertNotTakenDown(identity.id).catch(async (error) => {
        // One that is held may be released, and a ledger that fails says nothing of the operator. A repeat may have been told
        // that the image is stored.
        if (error instanceof Refusal && error.code !== 'held') await objects.remove(identity.id)
        else storing.onKept()
        throw error
      })
      return published
    } catch (error) {
      const won = error instanceof IdTaken ? await stored(identity, digest) : null
      if (won !== null) return won
      throw error
    }
  }

  /** What an earlier request stored. Throws `Refusal` if that were other bytes, or the image is gone. */
  async function stored({ id, key }: Identity, sentSha256: string): Promise<Published | null> {
    const record = (await objects.headDurable(id)) ?? (await unscanned(id))
    if (record === null || record === 'retired') {
      await assertNotTakenDown(id)
      if (record === 'retired') throw takenDown({ state: 'deleted', rule: '' })
      return null
    }
    // A name that was drawn by somebody else, against all odds.
    if (!equalInConstantTime(record.keySha256, hashes.sha256(key))) throw new IdTaken()
    if (isExpired(record, expiryClock)) throw takenDown({ state: 'deleted', rule: '' })
    if (record.sentSha256 === sentSha256) {
      if (scans !== undefined) await hide(id)
      return { record, key, isRepeat: true }
    }
    throw new Refusal('idempotency-key-reused', 'Another image was sent under this Idempotency-Key before.')
  }

  function sentDigest(draft: Draft): Promise<string> {
    const whole = () => draft.digest([{ offset: 0, length: draft.size }])
    const digest = draft.size > PIECE_BYTES ? largeReads.run(whole) : whole()
    return digest.catch(discarding(draft))
  }

  async function store(
    draft: Draft,
    { id, key, isDerived }: Identity,
    { lifetimeSeconds, beforeStored }: Storing,
  ): Promise<Published> {
    const inTurn = <T>(semaphore: Semaphore, work: () => Promise<T>) =>
      draft.size > PIECE_BYTES ? semaphore.run(work) : work()
    const inspected = await inTurn(largeReads, () => examine(draft)).catch(discarding(draft))
    const { segments, pictures, ...facts } = inspected
    const record: ImageRecord = {
      id,
      ...facts,
      keySha256: hashes.sha256(key),
      createdAt: new Date(parts.now()).toISOString(),
    }
    await beforeStored(storedSize(record)).catch(discarding(draft))
    const admission = (await scans?.gate(pictures, record).catch(discarding(draft))) ?? 'scanned'
    if (lifetimeSeconds !== null) {
      record.expiresAt = expiryAfter(expiryClock.latest(), lifetimeSeconds)
      // Before, so that no crash leaves bytes that nobody removes.
      await ledger.recordExpiries([{ id, expiresAt: Date.parse(record.expiresAt) }]).catch(discarding(draft))
    }
    if (admission !== 'scanned') {
      const scan = { id, at: parts.now(), isHidden: admission === 'hidden' }
      await ledger.recordScan(scan).catch(discarding(draft))
    }
    // The end of the draft, whatever comes of it.
    await inTurn(largeCommits, () => draft.commit(record, segments, { isContended: isDerived }))
    if (admission === 'hidden') await hide(id)
    return { record, key, isRepeat: false }
  }

  /** The turn ends before anything else is waited for: a slow ledger holds up no inspection. */
  function inspectInTurn(draft: Draft): Promise<InspectedUpload> {
    const inspect = () => inspectUpload(draft, { strip: parts.stripMetadata }).catch(blameFile)
    // A large one has its turn for all of its reads.
    return draft.size > PIECE_BYTES ? inspect() : smallInspections.run(inspect)
  }

  /** Everything that a draft may be refused for. */
  async function examine(draft: Draft) {
    if (draft.size === 0) throw new Refusal('missing-file', 'The file is empty.')
    const inspected = await inspectInTurn(draft)
    const { type, width, height, animated } = inspected.image
    const sentSha256 = await draft.digest([{ offset: 0, length: draft.size }])
    const { segments } = inspected.image
    const sha256 = isWhole(segments, draft.size) ? sentSha256 : await draft.digest(segments)
    const preview = inspected.preview && (await previewOf(draft, inspected.preview))
    const size = lengthOf(segments)
    const facts = { type, width, height, animated, size, sha256, sentSha256, ...(preview && { preview }) }
    const why = await ledger.whyWithheld([...new Set(digestsOf(facts))])
    if (why !== null) throw withheld(why)
    const pictures: Scanned[] = [picture({ type, size, sha256 }, segments)]
    if (preview !== null && inspected.preview !== null) {
      pictures.push(picture(preview, inspected.preview.segments))
    }
    return { ...facts, segments: inspected.segments, pictures }

    function picture(facts: Omit<Scanned, 'bytes'>, segments: Segment[]): Scanned {
      return { ...facts, bytes: () => bytesOf(draft, segments) }
    }
  }

  /** Nobody knows its id yet. A process that dies before leaves it to those that scan. */
  async function hide(id: string): Promise<void> {
    if (await ledger.hideScanned(id)) await scans?.moves.carryOut(id)
  }

  /** One that is out of sight until it is scanned, or was when it was looked for. */
  async function unscanned(id: string): Promise<ImageRecord | 'retired' | null> {
    if (scans === undefined) return null
    const isHidden = (await ledger.whyAbsent(id))?.state === 'scanning'
    return (isHidden ? await objects.headHeld(id) : null) ?? objects.headDurable(id)
  }

  async function assertNotTakenDown(id: string): Promise<void> {
    const why = await ledger.whyAbsent(id)
    if (why !== null && why.state !== 'scanning') throw takenDown(why)
  }

  return async (
    body,
    {
      maxBytes = Number.POSITIVE_INFINITY,
      identity = drawIdentity(),
      lifetimeSeconds = null,
      beforeStored = async () => {},
      onKept = () => {},
    } = {},
  ) => {
    const draft = await objects.draft(body, Math.min(parts.maxUploadBytes, maxBytes))
    const storing = { lifetimeSeconds, beforeStored, onKept }
    if (!identity.isDerived) return store(draft, identity, storing)
    return inFlight.run(identity.id, () => storeOnce(draft, identity, storing))
  }
}

/** The refusal for an absent image. Only a request with its `Idempotency-Key` is told that its owner deleted it. */
export function takenDown({ state, rule }: WhyAbsent): Refusal {
  switch (state) {
    case 'held':
      return new Refusal('held', 'This image is being reviewed.')
    case 'scanning':
      return new Refusal('held', 'This image is being checked before it is shown.')
    case 'removed':
      return new Refusal('removed', 'The operator of this server removed this image.', { rule })
    case 'deleted':
      return new Refusal('idempotency-key-reused', DELETED)
  }
}

/** The refusal for bytes that are blocked, or withheld while an image is held. */
function withheld(why: 'blocked' | 'held'): Refusal {
  return why === 'blocked'
    ? new Refusal('blocked-image', 'The operator of this server removed this image and blocked it.')
    : new Refusal(
        'held',
        'The operator of this server is checking this image. Until then nobody can send it.',
      )
}

/**
 * An inspector threw something other than a `Refusal`: a defect of the server. It counts as a refused upload all the same, or
 * a client could send such files without end.
 */
export class InspectionFailure extends Error {
  override name = 'InspectionFailure'
}

function blameFile(cause: unknown): never {
  const isOfFile = !(
    cause instanceof Refusal ||
    cause instanceof StoreFull ||
    cause instanceof StoreUnavailable
  )
  throw isOfFile ? new InspectionFailure('an image could not be inspected', { cause }) : cause
}

/** Ends a draft that came to nothing. */
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
