/**
 * Looks after what nobody does anything about: cases that are due, urgent reports without an answer, purges that are
 * stuck, a second place that is away, a disk that fills. What begins to be so is told once, whoever finds it out.
 */
import type { NoticeKind } from '../notify/notifier.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { ObjectStore } from '../stores/object-store.ts'
import type { Case } from '../stores/reports.ts'
import type { Purges } from './purges.ts'
import { floodOn, URGENT } from './reports.ts'
import { createRounds } from './rounds.ts'
import type { Settings } from './settings.ts'
import type { Tombstones } from './tombstones.ts'
import { utcDayOf } from './utc-day.ts'
import { findImage, isOnRecord } from './whereabouts.ts'

export interface Watch {
  /** Looks now and then, until `stop` is called. */
  start(): void
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>
  /** Looks once. */
  look(): Promise<void>
}

const ROUND_MS = 20_000
const MINUTE_MS = 60_000

/** Of the time that a case has, when it is told that it is due soon; and never earlier than this. */
const DUE_PART = 0.25
const DUE_MS = 6 * 3_600_000

/** How long a purge or a tombstone may wait. Unit: seconds. */
const STUCK_SECONDS = 300

/** Of the disk: above the first it is told, below the second it is over. */
const DISK = { high: 0.9, low: 0.85 }

/** More wait than anybody decides in an hour. */
const LOOKED_AT = 1000

/** What the operator is to know, and of whom another round knows whether it is still so. */
interface Found {
  name: string
  raises: NoticeKind | null
  pauses?: boolean
  /** The image whose case it is. */
  of?: string
}

export function createWatch(parts: {
  objects: ObjectStore
  ledger: Ledger
  settings: Settings
  purges: Purges
  tombstones: Pick<Tombstones, 'owed'>
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
}): Watch {
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
    const [cases, owed, waiting] = await Promise.all([
      ledger.cases(['open'], LOOKED_AT),
      purges.owed(),
      parts.tombstones.owed(),
    ])
    const found = cases.flatMap((each) => ofCase(each, since))
    if (owed !== null && owed.oldestSeconds > STUCK_SECONDS)
      found.push({ name: 'purges', raises: 'purge.stuck' })
    if (waiting !== null && waiting.oldestSeconds > STUCK_SECONDS) {
      found.push({ name: 'tombstones', raises: 'tombstones.stuck' })
    }
    const used = parts.diskUsed()
    if (used !== null && used >= (since.has(disk) ? DISK.low : DISK.high)) {
      found.push({ name: disk, raises: 'disk.high' })
    }
    return found
  }

  /** Whether the image is not there any more, which its case then remembers. A store that does not answer says nothing of it. */
  async function isGone(id: string): Promise<boolean> {
    if (await findImage(parts, id).then(isOnRecord, () => true)) return false
    await ledger.recordImageGone(id, new Date(now()))
    return true
  }

  async function look(): Promise<void> {
    const since = new Map((await ledger.conditions()).map(({ name, since }) => [name, since]))
    const found = await findings(since)
    const at = new Date(now())
    for (const { name, raises, pauses, of } of found) {
      if (since.has(name)) continue
      // Asked of the store only now: once for what is told, not in each round.
      if (of !== undefined && (await isGone(of))) continue
      const pause = pauses ? PAUSE : null
      if ((await ledger.beginCondition(name, at, { raises, pause })) && pause !== null) {
        await settings.refresh()
        parts.onPause()
      }
    }
    // A flood is told by those who see it, once on its day.
    const names = new Set([floodOn(utcDayOf(now())), ...found.map(({ name }) => name)])
    // Other machines know their own disks.
    const isOurs = (name: string) => !name.startsWith('disk ') || name === disk
    await ledger.endConditions([...since.keys()].filter((name) => isOurs(name) && !names.has(name)))
  }

  const rounds = createRounds(look, ROUND_MS, parts.onFailure)

  return {
    look,
    start: rounds.start,
    stop: rounds.stop,
  }
}

const PAUSE = {
  reason: 'an urgent report was not answered in time',
  who: 'pinhole',
  raises: 'uploads.paused' satisfies NoticeKind,
}
