/**
 * Scanning of stored images by external scanners: the server posts images to a scanner (push), or scanners fetch pending
 * images (pull). The queue is in the ledger, so a scanner that is down, slow or broken loses nothing and, unless
 * `fault` is `hold` or the server was down meanwhile, hides an image no longer than the time limit.
 */
import { type BackgroundJob, backoffMs, createIntervalJob } from '../../async.ts'
import { RemoteFailure } from '../../errors.ts'
import type { Scanner, ScanTarget, Verdict } from '../../scan/scanner.ts'
import type { Ledger } from '../../stores/ledger.ts'
import {
  chunksOf,
  DamagedObject,
  type ImageRecord,
  type ObjectStore,
  openAnywhere,
} from '../../stores/object-store.ts'
import type { ClaimedScan } from '../../stores/scans.ts'
import type { Hashes } from '../hashes.ts'
import { LOST_MS } from '../images/expiring.ts'
import type { Images } from '../images/images.ts'
import { recordAnywhere, treatDamagedAsPresent } from '../images/status.ts'
import type { Moves } from './moves.ts'
import { isCategory } from './report-categories.ts'
import { newCase } from './reports.ts'
import { isSevere, reasonOf, SCANNER, type ScanRules, scanAll } from './scan-gate.ts'
import type { Takedown } from './takedown.ts'

/** A unit of work for a pull scanner. */
export interface ScanTask {
  id: string
  claim: number
  record: ImageRecord
  /** Epoch milliseconds. */
  leaseEndsAt: number
}

/**
 * Sends pending images to the scanner and handles overdue ones. With scanning off nothing new is queued, so the job only
 * runs as long as images queued earlier remain to be shown or removed.
 */
export interface Scanning extends BackgroundJob {
  /** Claims up to `limit` images for a pull scanner. */
  claim(limit: number): Promise<ScanTask[]>
  /** Whether the claim is still valid. */
  isClaimed(id: string, claim: number): Promise<boolean>
  /** Carries out a verdict. `false`, without any effect, if the claim has expired. */
  decide(id: string, claim: number, verdict: Verdict): Promise<boolean>
}

const INTERVAL_MS = 2000
/** Images sent to the scanner concurrently. Few, as uploads that wait for a verdict take precedence. */
const BATCH = 2
/** Lease of a pull scanner's claim. */
const LEASE_MS = 60_000
/** How long this process's claims outlast the time limit for a verdict, so that it can still be carried out. */
const MARGIN_MS = 15_000
/** Each takes up to ten calls, and a trigger on Workers may make a thousand. */
const OVERDUE_BATCH = 64
/** On Workers: how much later than the time limit an image is still refused. The trigger runs every minute. */
const LATE_MS = 10 * 60_000

interface VerdictParts {
  ledger: Pick<Ledger, 'fileReport'>
  takedown: Pick<Takedown, 'hold' | 'remove'>
  hashes: Pick<Hashes, 'sha256'>
  now: () => number
}

/** Opens a case unless the verdict is `clean`, and holds or removes the image if it says so. `false` if the image may be shown. */
export async function carryOutVerdict(
  parts: VerdictParts,
  record: ImageRecord,
  result: Verdict,
): Promise<boolean> {
  const { verdict, category, finding } = result
  const reason = reasonOf(finding)
  if (verdict !== 'clean') await openCase(parts, record, result)
  if (verdict === 'block' && isSevere(category)) {
    const by = { who: SCANNER, rule: category }
    await parts.takedown.remove(record.id, reason, { block: true, by })
    return true
  }
  if (verdict !== 'hold' && verdict !== 'block') return false
  const rule = category !== null && isCategory(category) ? { rule: category } : {}
  await parts.takedown.hold(record.id, reason, { who: SCANNER, ...rule })
  return true
}

/** Files a report, so that the image has a case and the operator is notified. */
async function openCase(
  { ledger, hashes, now }: VerdictParts,
  record: ImageRecord,
  { category: named, finding }: Verdict,
): Promise<void> {
  const category = named !== null && isCategory(named) ? named : 'other'
  // The same when the verdict is carried out again, so that it is reported once. Nobody holds such a receipt.
  const receiptSha256 = hashes.sha256(`scanner ${record.id} ${category}`)
  await ledger.fileReport(
    {
      id: record.id,
      sha256: record.sha256,
      text: `Scanner: ${reasonOf(finding)}`,
      contact: '',
      ...newCase(category, now()),
      receiptSha256,
      sharedReceiptSha256: receiptSha256,
      keepsText: true,
      isCrowded: false,
    },
    // Past the limit it would take the place of the receipt that reporters share.
    Number.MAX_SAFE_INTEGER,
  )
}

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
  /** Called for every image that could not be scanned, and with `null` for every failed run. Both are retried. */
  onFailure: (error: unknown, id: string | null) => void
  /** Called at the first run, with the number of images that are still hidden although scanning is off. */
  onUnseen: (count: number) => void
  intervalMs?: number
  /** Maximum number of images per run; a run with a maximum is never cut short by `stop`. Default: all that are due. */
  maxPerRun?: number
}): Scanning {
  const { objects, ledger, moves, rules, scanner, now, onFailure } = parts
  /**
   * Images uploaded earlier are not refused but stay hidden until their verdict: an outage of the server or its ledger, or a
   * restore from a backup, used up their time.
   */
  let inTimeSince = parts.maxPerRun === undefined ? now() : now() - rules.limitMs - LATE_MS

  /** The record of an image that can be scanned now. Makes sure that an image to be hidden is hidden. */
  async function recordFor(scan: ClaimedScan): Promise<ImageRecord | null> {
    const { id } = scan
    const visible = await objects.head(id)
    const record = visible ?? (await objects.headHeld(id))
    if (record === null) {
      await deferOrDrop(scan)
      return null
    }
    // The process that stored the image died before hiding it.
    if (visible !== null && scan.isHidden && (await ledger.hideForScan(id))) await moves.carryOut(id)
    return record
  }

  /** For an absent image: its upload may still be in progress, or it is gone. */
  async function deferOrDrop(scan: ClaimedScan): Promise<void> {
    const why = await ledger.absenceReason(scan.id)
    const mayStillArrive = (why === null || why.state === 'scanning') && now() - scan.since < LOST_MS
    if (mayStillArrive) await ledger.deferScan(scan, now() + backoffMs(scan.attempts))
    else await ledger.endScan(scan, 'dropped')
  }

  /** Acts first and ends the scan afterwards, so that the verdict is carried out again if the process dies in between. */
  async function carryOut(scan: ClaimedScan, record: ImageRecord, verdict: Verdict): Promise<boolean> {
    if (await carryOutVerdict(parts, record, verdict)) return ledger.endScan(scan, 'dropped')
    const isEnded = await ledger.endScan(scan, 'passed')
    if (isEnded && scan.isHidden) await moves.carryOut(scan.id)
    return isEnded
  }

  async function scanOne(scan: ClaimedScan): Promise<void> {
    try {
      const record = await recordFor(scan)
      if (record === null) return
      const signal = AbortSignal.timeout(rules.limitMs)
      await carryOut(scan, record, await scanAll(scanner!, scanTargetsOf(record), signal))
    } catch (error) {
      // A damaged image cannot be scanned.
      if (error instanceof DamagedObject) await ledger.endScan(scan, 'dropped')
      else await ledger.deferScan(scan, now() + backoffMs(scan.attempts))
      onFailure(error, scan.id)
    }
  }

  function scanTargetsOf({ id, type, size, sha256, preview }: ImageRecord): ScanTarget[] {
    const image = { type, size, sha256, bytes: () => storedBytes(id, 'all') }
    return preview === undefined ? [image] : [image, { ...preview, bytes: () => storedBytes(id, 'preview') }]
  }

  async function* storedBytes(id: string, part: 'all' | 'preview'): AsyncGenerator<Uint8Array> {
    const image = await openAnywhere(objects, id, part)
    if (image === null) throw new RemoteFailure('the image is gone')
    try {
      yield* chunksOf(image.body)
    } finally {
      image.release?.()
    }
  }

  /**
   * Removes an image whose scan is overdue. The claim fails if the image got its verdict or was held since it was listed.
   * The row is deleted last, so that the next run retries if the process dies.
   */
  async function removeOverdue(id: string, before: number): Promise<void> {
    const isThere = (await recordAnywhere(objects, id).catch(treatDamagedAsPresent)) !== null
    const claimed = await ledger.claimOverdueScan(id, before, now(), LEASE_MS)
    if (claimed === null) return
    // Expiring it now would record a deletion of an image whose upload may still be in progress.
    if (!isThere) return deferOrDrop(claimed)
    await parts.images.expire(id)
    await ledger.endScan(claimed, 'dropped')
  }

  /** Publishes or removes images that got no verdict in time. With `hold` they stay hidden until their verdict. */
  async function handleOverdue(): Promise<void> {
    if (rules.fault === 'hold') return
    const before = now() - rules.limitMs
    const isRefused = rules.fault === 'refuse' && rules.when !== 'off'
    const ids = await ledger.overdueScans(before, OVERDUE_BATCH, isRefused ? inTimeSince : 0)
    for (const id of ids) {
      try {
        if (rules.fault === 'publish') {
          await ledger.showUnscanned(id)
          await moves.carryOut(id)
        } else {
          await removeOverdue(id, before)
        }
      } catch (error) {
        onFailure(error, id)
      }
    }
  }

  let isFirstRun = true

  async function runWhileOff(): Promise<void> {
    const { hidden } = await ledger.pendingScans()
    if (hidden > 0 && isFirstRun) parts.onUnseen(hidden)
    isFirstRun = false
    if (hidden === 0 || rules.fault === 'hold') void job.stop()
    else await handleOverdue()
  }

  async function run(isStopping: () => boolean): Promise<void> {
    if (rules.when === 'off') return runWhileOff()
    await handleOverdue()
    if (scanner === null) return
    for (let remaining = parts.maxPerRun ?? Number.POSITIVE_INFINITY; remaining > 0; ) {
      const leaseMs = rules.limitMs + MARGIN_MS
      const claimed = await ledger.claimScans(Math.min(BATCH, remaining), now(), leaseMs)
      if (claimed.length === 0) return
      await Promise.all(claimed.map(scanOne))
      remaining -= claimed.length
      if (isStopping() && parts.maxPerRun === undefined) return
    }
  }

  const job = createIntervalJob(run, parts.intervalMs ?? INTERVAL_MS, (error) => {
    inTimeSince = now()
    onFailure(error, null)
  })

  return {
    async claim(limit) {
      if (rules.when === 'off') return []
      const at = now()
      const tasks: ScanTask[] = []
      for (const scan of await ledger.claimScans(limit, at, LEASE_MS)) {
        const record = await recordFor(scan).catch(async (error) => {
          if (error instanceof DamagedObject) await ledger.endScan(scan, 'dropped')
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
      const record = await recordFor(scan)
      return record !== null && carryOut(scan, record, verdict)
    },
    start: job.start,
    stop: job.stop,
  }
}
