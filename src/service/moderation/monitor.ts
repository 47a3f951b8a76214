/**
 * Alerting on conditions that need the operator: cases that are due, urgent reports without a decision, stuck purges,
 * tombstones or scans, and a disk that fills up. Each condition raises one alert, whichever process detects it first.
 */

import { type BackgroundJob, createIntervalJob } from '../../async.ts'
import type { NoticeKind } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import type { Case } from '../../stores/reports.ts'
import { utcDayOf } from '../../utc-day.ts'
import type { Purges } from '../images/purges.ts'
import { findImage, isOnRecord } from '../images/status.ts'
import type { Tombstones } from '../recovery/tombstones.ts'
import type { Settings } from '../settings.ts'
import { floodOn, URGENT } from './reports.ts'

export interface Monitor extends BackgroundJob {
  /** Runs a single check. */
  check(): Promise<void>
}

const INTERVAL_MS = 20_000
const MINUTE_MS = 60_000

/** A case is due soon when at most this fraction of its time, and at most this much time, remains. */
const DUE_FRACTION = 0.25
const DUE_MS = 6 * 3_600_000

/** Maximum age of a pending purge, tombstone or scan. Unit: seconds. */
const STUCK_SECONDS = 300

/** Disk usage, as a fraction: the alert is raised at `high` and resolved below `low`. */
const DISK = { high: 0.9, low: 0.85 }

/** How long the disk alert of another machine stays active. */
const DISK_ALERT_TTL_MS = 24 * 3_600_000

/** Cases examined per run: more than anyone decides in an hour. */
const CASES_CHECKED = 1000

/** Alerts raised per run, the rest by later ones: each takes up to four calls, and a trigger on Workers may make a thousand. */
const MAX_RAISED = 100

/** A condition that currently holds. Later runs check whether it still does. */
interface Condition {
  name: string
  raises: NoticeKind | null
  pauses?: boolean
  /** The image, if the condition is about a case. */
  imageId?: string
}

export function createMonitor(parts: {
  objects: ObjectStore
  ledger: Ledger
  settings: Settings
  purges: Purges
  tombstones: Pick<Tombstones, 'pending'>
  now: () => number
  /** Fraction of the disk in use, 0 to 1. `null` if unknown. */
  diskUsed: () => number | null
  /** Distinguishes this machine's disk from those of other machines. */
  machine: string
  /** Whether notices go to anyone. If not, no report counts as unanswered. */
  hasReceivers: boolean
  /** Called when uploads were paused. */
  onPause: () => void
  onFailure: (error: unknown) => void
}): Monitor {
  const { ledger, settings, purges, now, machine } = parts
  const disk = `disk ${machine}`

  function conditionsOfCase(openCase: Case, since: Map<string, number>): Condition[] {
    const { id, severity, openedAt, dueAt } = openCase
    if (openCase.isCrowded || openCase.isImageGone) return []
    const conditions: Condition[] = []
    if (dueAt - now() < Math.min(DUE_MS, (dueAt - openedAt) * DUE_FRACTION)) {
      conditions.push({ name: `due ${id}`, raises: 'case.due', imageId: id })
    }
    if (severity > URGENT) return conditions
    const urgent = { name: `urgent ${id}`, raises: null }
    const minutes = settings.current()['unanswered-minutes']
    const waitingMs = now() - (since.get(urgent.name) ?? now())
    const isUnanswered = parts.hasReceivers && minutes > 0 && waitingMs >= minutes * MINUTE_MS
    const unanswered = { name: `unanswered ${id}`, raises: null, pauses: true, imageId: id }
    return [...conditions, urgent, ...(isUnanswered ? [unanswered] : [])]
  }

  async function currentConditions(since: Map<string, number>): Promise<Condition[]> {
    const [cases, purging, tombstones, scans] = await Promise.all([
      ledger.cases(['open'], CASES_CHECKED),
      purges.pending(),
      parts.tombstones.pending(),
      ledger.pendingScans(),
    ])
    const found = cases.flatMap((openCase) => conditionsOfCase(openCase, since))
    if (purging !== null && purging.oldestSeconds > STUCK_SECONDS)
      found.push({ name: 'purges', raises: 'purge.stuck' })
    if (tombstones !== null && tombstones.oldestSeconds > STUCK_SECONDS) {
      found.push({ name: 'tombstones', raises: 'tombstones.stuck' })
    }
    if (scans.oldest !== null && now() - scans.oldest > STUCK_SECONDS * 1000) {
      found.push({ name: 'scanner', raises: 'scanner.stuck' })
    }
    const used = parts.diskUsed()
    if (used !== null && used >= (since.has(disk) ? DISK.low : DISK.high)) {
      found.push({ name: disk, raises: 'disk.high' })
    }
    return found
  }

  /** Whether the image is gone; if so, records that in its case. `false` if the store does not respond. */
  async function isGone(id: string): Promise<boolean> {
    if (await findImage(parts, id).then(isOnRecord, () => true)) return false
    await ledger.recordImageGone(id, new Date(now()))
    return true
  }

  async function check(): Promise<void> {
    const since = new Map((await ledger.activeAlerts()).map(({ name, since }) => [name, since]))
    const found = await currentConditions(since)
    const at = new Date(now())
    const raisable = found.filter(({ name }) => !since.has(name)).slice(0, MAX_RAISED)
    for (const { name, raises, pauses, imageId } of raisable) {
      // Asks the store once per alert, not on every run.
      if (imageId !== undefined && (await isGone(imageId))) continue
      const pause = pauses ? PAUSE : null
      if ((await ledger.raiseAlert(name, at, { raises, pause })) && pause !== null) {
        await settings.refresh()
        parts.onPause()
      }
    }
    // Flood alerts are raised by `reports.ts` and end with their day.
    const names = new Set([floodOn(utcDayOf(now())), ...found.map(({ name }) => name)])
    // Alerts about other machines' disks only expire: a full disk raises its alert again, while a container may be gone for
    // good.
    const canResolve = (name: string, raisedAt: number) =>
      !name.startsWith('disk ') || name === disk || now() - raisedAt > DISK_ALERT_TTL_MS
    const resolved = [...since].filter(([name, raisedAt]) => !names.has(name) && canResolve(name, raisedAt))
    await ledger.resolveAlerts(resolved.map(([name]) => name))
  }

  return { check, ...createIntervalJob(check, INTERVAL_MS, parts.onFailure) }
}

const PAUSE = {
  reason: 'an urgent report was not answered in time',
  who: 'pinhole',
  raises: 'uploads.paused' satisfies NoticeKind,
}
