/**
 * Scanners look at images in processes of their own: this one asks a scanner (push), or a scanner fetches what waits (pull). What
 * waits is in the ledger, so a scanner that is dead, slow or wrong loses nothing, and holds up nobody longer than its time.
 */
import { type BackgroundJob, backoffMs, createIntervalJob } from '../../async.ts'
import { toHex } from '../../bytes.ts'
import { RemoteFailure } from '../../errors.ts'
import type { Scanned, Scanner, Verdict } from '../../scan/scanner.ts'
import type { Ledger } from '../../stores/ledger.ts'
import {
  DamagedObject,
  type ImageRecord,
  type ObjectStore,
  openAnywhere,
  piecesOf,
} from '../../stores/object-store.ts'
import type { ClaimedScan } from '../../stores/scans.ts'
import type { Hashes } from '../hashes.ts'
import { LOST_MS } from '../images/expiring.ts'
import type { Images } from '../images/images.ts'
import { damagedIsThere, recordAnywhere } from '../images/status.ts'
import type { Moves } from './moves.ts'
import { isCategory } from './report-categories.ts'
import { KEPT_OF_CATEGORY, newCase } from './reports.ts'
import { isSevere, reasonOf, SCANNER, type ScanRules, scanAll } from './scan-gate.ts'
import type { Takedown } from './takedown.ts'

/** What a scanner elsewhere is given to do. */
export interface ScanTask {
  id: string
  claim: number
  record: ImageRecord
  /** Epoch milliseconds. */
  leaseEndsAt: number
}

/**
 * Asks the scanner about what waits, and ends waits that are over. With scans off nothing comes to wait, so what does is looked
 * for once, and then only as long as there is something to show or remove.
 */
export interface Scanning extends BackgroundJob {
  /** Up to `limit` images for one scanner. */
  claim(limit: number): Promise<ScanTask[]>
  /** The image of a claim that still lasts. */
  isClaimed(id: string, claim: number): Promise<boolean>
  /** Carries out a verdict. `false` if the claim is over: then nothing is done. */
  decide(id: string, claim: number, verdict: Verdict): Promise<boolean>
}

const INTERVAL_MS = 2000
/** Images of one round that are asked about at once: apart from uploads, whose turn comes first. */
const BATCH = 2
/** How long a claim of a scanner elsewhere lasts. */
const LEASE_MS = 60_000
/** What a claim of this process lasts beyond the time for a verdict, so that it can be carried out. */
const MARGIN_MS = 15_000
const OVERDUE_AT_ONCE = 100

export function createScanning(parts: {
  objects: ObjectStore
  ledger: Ledger
  takedown: Pick<Takedown, 'hold' | 'remove'>
  moves: Pick<Moves, 'carryOut'>
  images: Pick<Images, 'expire'>
  scanner: Scanner | null
  rules: ScanRules
  hashes: Pick<Hashes, 'sha256'>
  now: () => number
  /** Hears of every image that could not be scanned, and of every round that failed (`null`). It is tried again. */
  onFailure: (error: unknown, id: string | null) => void
  /** Hears how many images wait unseen when scans are off. */
  onUnseen: (count: number) => void
  intervalMs?: number
  /** Most images of one round, which then is never cut short. Default: all that are due. */
  maxPerRun?: number
}): Scanning {
  const { objects, ledger, takedown, moves, rules, scanner, now, onFailure } = parts

  /** The record of an image that can be scanned now; a hidden one is out of sight from then on. */
  async function found(scan: ClaimedScan): Promise<ImageRecord | null> {
    const { id } = scan
    const visible = await objects.head(id)
    const record = visible ?? (await objects.headHeld(id))
    if (record === null) {
      await putAside(scan)
      return null
    }
    // The process that stored it died before it was hidden.
    if (visible !== null && scan.isHidden && (await ledger.hideScanned(id))) await moves.carryOut(id)
    return record
  }

  async function putAside(scan: ClaimedScan): Promise<void> {
    const why = await ledger.whyAbsent(scan.id)
    const isOnItsWay = (why === null || why.state === 'scanning') && now() - scan.since < LOST_MS
    if (isOnItsWay) await ledger.deferScan(scan, now() + backoffMs(scan.attempts))
    else await ledger.endScan(scan, 'gone')
  }

  /** As a report: it stands in the queue, and the operator is told. */
  async function openCase(record: ImageRecord, verdict: Verdict): Promise<void> {
    const { category: named, finding } = verdict
    const category = named !== null && isCategory(named) ? named : 'other'
    const nobodys = () => parts.hashes.sha256(toHex(crypto.getRandomValues(new Uint8Array(32))))
    await ledger.fileReport(
      {
        id: record.id,
        sha256: record.sha256,
        text: `Said by the scanner: ${reasonOf(finding)}`,
        contact: '',
        ...newCase(category, now()),
        receiptSha256: nobodys(),
        sharedReceiptSha256: nobodys(),
        keepsWords: true,
        isCrowded: false,
      },
      KEPT_OF_CATEGORY,
    )
  }

  /** The act first: a process that dies in between repeats it. */
  async function carryOut(scan: ClaimedScan, record: ImageRecord, said: Verdict): Promise<boolean> {
    const { id } = scan
    const { verdict, category, finding } = said
    const reason = reasonOf(finding)
    if (verdict === 'block' && isSevere(category)) {
      await takedown.remove(id, reason, { block: true, by: { who: SCANNER, rule: category } })
      return ledger.endScan(scan, 'decided')
    }
    if (verdict !== 'clean') await openCase(record, said)
    if (verdict === 'hold' || verdict === 'block') {
      const rule = category !== null && isCategory(category) ? { rule: category } : {}
      await takedown.hold(id, reason, { who: SCANNER, ...rule })
      return ledger.endScan(scan, 'decided')
    }
    const isEnded = await ledger.endScan(scan, 'passed')
    if (isEnded && scan.isHidden) await moves.carryOut(id)
    return isEnded
  }

  async function ask(scan: ClaimedScan): Promise<void> {
    try {
      const record = await found(scan)
      if (record === null) return
      const signal = AbortSignal.timeout(rules.limitMs)
      await carryOut(scan, record, await scanAll(scanner!, picturesOf(record), signal))
    } catch (error) {
      // There is nothing to see.
      if (error instanceof DamagedObject) await ledger.endScan(scan, 'decided')
      else await ledger.deferScan(scan, now() + backoffMs(scan.attempts))
      onFailure(error, scan.id)
    }
  }

  function picturesOf({ id, type, size, sha256, preview }: ImageRecord): Scanned[] {
    const image = { type, size, sha256, bytes: () => storedBytes(id, 'all') }
    return preview === undefined ? [image] : [image, { ...preview, bytes: () => storedBytes(id, 'preview') }]
  }

  async function* storedBytes(id: string, part: 'all' | 'preview'): AsyncGenerator<Uint8Array> {
    const image = await openAnywhere(objects, id, part)
    if (image === null) throw new RemoteFailure('the image is gone')
    try {
      yield* piecesOf(image.body)
    } finally {
      image.release?.()
    }
  }

  /**
   * Expires an image whose scan is overdue. The claim fails for one that has had its verdict, or is held, since it was listed.
   * The row is deleted last: if the process dies before, the next round finds it.
   */
  async function refuse(id: string, before: number): Promise<void> {
    const isThere = (await recordAnywhere(objects, id).catch(damagedIsThere)) !== null
    const claimed = await ledger.claimOverdueScan(id, before, now(), LEASE_MS)
    if (claimed === null) return
    // A deletion on record would be one of an image that is still to be stored.
    if (!isThere) return putAside(claimed)
    await parts.images.expire(id)
    await ledger.endScan(claimed, 'decided')
  }

  /** Nobody waits longer than the scanner's time. With `hold` an image waits, unseen, for its verdict. */
  async function endWaits(): Promise<void> {
    if (rules.fault === 'hold') return
    const before = now() - rules.limitMs
    const ids = await ledger.overdueScans(before, OVERDUE_AT_ONCE)
    for (const id of ids) {
      try {
        if (rules.fault === 'publish') {
          await ledger.showUnscanned(id)
          await moves.carryOut(id)
        } else {
          await refuse(id, before)
        }
      } catch (error) {
        onFailure(error, id)
      }
    }
  }

  let isFirstRound = true

  async function roundWhileOff(): Promise<void> {
    const { hidden } = await ledger.pendingScans()
    if (hidden > 0 && isFirstRound) parts.onUnseen(hidden)
    isFirstRound = false
    if (hidden === 0 || rules.fault === 'hold') void job.stop()
    else await endWaits()
  }

  async function round(isStopping: () => boolean): Promise<void> {
    if (rules.when === 'off') return roundWhileOff()
    await endWaits()
    if (scanner === null) return
    for (let left = parts.maxPerRun ?? Number.POSITIVE_INFINITY; left > 0; ) {
      const leaseMs = rules.limitMs + MARGIN_MS
      const claimed = await ledger.claimScans(Math.min(BATCH, left), now(), leaseMs)
      if (claimed.length === 0) return
      await Promise.all(claimed.map(ask))
      left -= claimed.length
      if (isStopping() && parts.maxPerRun === undefined) return
    }
  }

  const job = createIntervalJob(round, parts.intervalMs ?? INTERVAL_MS, (error) => onFailure(error, null))

  return {
    async claim(limit) {
      if (rules.when === 'off') return []
      const at = now()
      const tasks: ScanTask[] = []
      for (const scan of await ledger.claimScans(limit, at, LEASE_MS)) {
        const record = await found(scan).catch(async (error) => {
          if (error instanceof DamagedObject) await ledger.endScan(scan, 'decided')
          else onFailure(error, scan.id)
          return null
        })
        if (record !== null)
          tasks.push({ id: scan.id, claim: scan.claim, record, leaseEndsAt: at + LEASE_MS })
      }
      return tasks
    },
    isClaimed: async (id, claim) => (await ledger.claimedScan(id, claim, now())) !== null,
    async decide(id, claim, verdict) {
      const scan = await ledger.claimedScan(id, claim, now())
      if (scan === null) return false
      const record = await found(scan)
      return record !== null && carryOut(scan, record, verdict)
    },
    start: job.start,
    stop: job.stop,
  }
}
