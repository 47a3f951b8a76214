/**
 * Detects what nobody acts on: cases that are due, urgent reports without an answer, purges that are stuck, a second place
 * that is unreachable, a disk that fills. Each raises one alert, whichever process notices it first.
 */

import { type BackgroundJob, createIntervalJob } from '../../async.ts'
import type { NoticeKind } from '../../notify/notifier.ts'
import type { Ledger } from '../../stores/ledger.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import type { Case } from '../../stores/reports.ts'
import type { Purges } from '../images/purges.ts'
import { findImage, isOnRecord } from '../images/status.ts'
import type { Tombstones } from '../recovery/tombstones.ts'
import type { Settings } from '../settings.ts'
import { utcDayOf } from '../utc-day.ts'
import { floodOn, URGENT } from './reports.ts'

export interface Monitor extends BackgroundJob {
  /** Checks once. */
  check(): Promise<void>
}

const INTERVAL_MS = 20_000
const MINUTE_MS = 60_000

/** A case is due soon when this part of its time is left, and no more than this. */
const DUE_PART = 0.25
const DUE_MS = 6 * 3_600_000

/** How long a purge, a tombstone or a scan may wait. Unit: seconds. */
const STUCK_SECONDS = 300

/** Part of the disk in use: the alert begins at the first and ends below the second. */
const DISK = { high: 0.9, low: 0.85 }

/** How long the alert of another machine's disk stays. */
const FORGOTTEN_MS = 24 * 3_600_000

/** Cases examined per round: more than anybody decides in an hour. */
const CASES_CHECKED = 1000

/** A condition to notify about. Later rounds check whether it still holds. */
interface Found {
  name: string
  raises: NoticeKind | null
  pauses?: boolean
  /** The image whose case it is. */
  of?: string
}

export function createMonitor(parts: {
  objects: ObjectStore
  ledger: Ledger
  settings: Settings
  purges: Purges
  tombstones: Pick<Tombstones, 'pending'>
  now: () => number
  /** Used of the disk, 0 to 1. `null` if that is not known. */
  diskUsed: () => number | null
  /** Names the disk among those of other machines. */
  machine: string
  /** Whether anybody is told: else nothing is unanswered. */
  hasReceivers: boolean
  /** Hears that uploads were paused. */
  onPause: () => void
  onFailure: (error: unknown) => void
}): Monitor {
  const { ledger, settings, purges, now, machine } = parts
  const disk = `disk ${machine}`

  function ofCase(found: Case, since: Map<string, number>): Found[] {
    const { id, severity, openedAt, dueAt } = found
    if (found.isCrowded || found.isImageGone) return []
    const states: Found[] = []
    if (dueAt - now() < Math.min(DUE_MS, (dueAt - openedAt) * DUE_PART)) {
      states.push({ name: `due ${id}`, raises: 'case.due', of: id })
    }
    if (severity > URGENT) return states
    const urgent = { name: `urgent ${id}`, raises: null }
    const minutes = settings.current()['unanswered-minutes']
    const waitsFor = now() - (since.get(urgent.name) ?? now())
    const isUnanswered = parts.hasReceivers && minutes > 0 && waitsFor >= minutes * MINUTE_MS
    const unanswered = { name: `unanswered ${id}`, raises: null, pauses: true, of: id }
    return [...states, urgent, ...(isUnanswered ? [unanswered] : [])]
  }

  async function findings(since: Map<string, number>): Promise<Found[]> {
    const [cases, purging, tombstones, scans] = await Promise.all([
      ledger.cases(['open'], CASES_CHECKED),
      purges.pending(),
      parts.tombstones.pending(),
      ledger.pendingScans(),
    ])
    const found = cases.flatMap((each) => ofCase(each, since))
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

  /** Whether the image is gone, which its case then remembers. `false` if the store does not answer. */
  async function isGone(id: string): Promise<boolean> {
    if (await findImage(parts, id).then(isOnRecord, () => true)) return false
    await ledger.recordImageGone(id, new Date(now()))
    return true
  }

  async function check(): Promise<void> {
    const since = new Map((await ledger.activeAlerts()).map(({ name, since }) => [name, since]))
    const found = await findings(since)
    const at = new Date(now())
    for (const { name, raises, pauses, of } of found) {
      if (since.has(name)) continue
      // The store is asked once for each alert, not in each round.
      if (of !== undefined && (await isGone(of))) continue
      const pause = pauses ? PAUSE : null
      if ((await ledger.raiseAlert(name, at, { raises, pause })) && pause !== null) {
        await settings.refresh()
        parts.onPause()
      }
    }
    // Floods are raised by `reports.ts`, and end with their day.
    const names = new Set([floodOn(utcDayOf(now())), ...found.map(({ name }) => name)])
    // Other machines know their own disks. One that is still full raises its alert anew; a container may be there no more.
    const isOver = (name: string, began: number) =>
      !name.startsWith('disk ') || name === disk || now() - began > FORGOTTEN_MS
    const over = [...since].filter(([name, began]) => !names.has(name) && isOver(name, began))
    await ledger.resolveAlerts(over.map(([name]) => name))
  }

  return { check, ...createIntervalJob(check, INTERVAL_MS, parts.onFailure) }
}

const PAUSE = {
  reason: 'an urgent report was not answered in time',
  who: 'pinhole',
  raises: 'uploads.paused' satisfies NoticeKind,
}
