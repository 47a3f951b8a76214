/**
 * Settings that the operator can change at run time. They are stored in the ledger, and every process polls them, so that a
 * change takes effect within a second. Unchanged settings come from the configuration.
 */

import { type BackgroundJob, createIntervalJob } from '../async.ts'
import type { Actor, Ledger } from '../stores/ledger.ts'

export interface SettingValues {
  uploads: 'on' | 'paused'
  /** `private`: no image is shown and no upload accepted. Uploaders can still delete; the operator can still view. */
  images: 'public' | 'private'
  /** Proof of work before an upload: `auto` requires it while the upload rate exceeds `challenge-rate`. */
  challenge: ChallengeMode
  /** Uploads per hour, over all addresses, above which `auto` turns challenges on. 0: never. */
  'challenge-rate': number
  /** Uploads of the whole instance per UTC day. 0: no limit. */
  'daily-uploads': number
  /** Stored bytes of the whole instance per UTC day. 0: no limit. */
  'daily-bytes': number
  /** Uploads per network (IPv4: /24, IPv6: /48) and UTC day. 0: no limit. */
  'network-uploads': number
  /** Uploads are refused when less is free on the disk. 0: only what the store itself needs. Unit: bytes. */
  'min-free-bytes': number
  /**
   * How long an urgent report may stay undecided before uploads are paused. No effect if notices go to nobody. Unit: minutes.
   * 0: never.
   */
  'unanswered-minutes': number
}

export type ChallengeMode = 'off' | 'auto' | 'on'

export type SettingName = keyof SettingValues

/** The settings, polled from the ledger. */
export interface Settings extends BackgroundJob {
  /** The values as of the last poll. */
  current(): SettingValues
  /** Only the settings that the operator changed. */
  changed(): Partial<SettingValues>
  /** Throws whatever the ledger throws. */
  refresh(): Promise<void>
  /**
   * Applies changes by name, as text. `null` resets to the configured value, and so does resuming uploads if that is `on`.
   * Throws `SettingError`.
   */
  change(changes: Record<string, string | null>, reason: string, by?: Actor): Promise<void>
}

/** Unknown setting or invalid value. */
export class SettingError extends Error {}

const INTERVAL_MS = 400

/** The allowed words of each setting, or `amount` for a number. */
const VALUES: {
  [Name in SettingName]: SettingValues[Name] extends number ? 'amount' : readonly SettingValues[Name][]
} = {
  uploads: ['on', 'paused'],
  images: ['public', 'private'],
  challenge: ['off', 'auto', 'on'],
  'challenge-rate': 'amount',
  'daily-uploads': 'amount',
  'daily-bytes': 'amount',
  'network-uploads': 'amount',
  'min-free-bytes': 'amount',
  'unanswered-minutes': 'amount',
}

export const SETTING_NAMES = Object.keys(VALUES) as SettingName[]

/** Formats lists such as "off, auto or on". */
const CHOICES = new Intl.ListFormat('en-GB', { type: 'disjunction' })

export function createSettings(parts: {
  ledger: Pick<Ledger, 'settings' | 'changeSettings'>
  /** The configured values. */
  defaults: SettingValues
  now: () => number
  /** Called when polling fails. The last known values stay in force. */
  onFailure: (error: unknown) => void
}): Settings {
  const { ledger, defaults, now, onFailure } = parts
  let changed: Partial<SettingValues> = {}
  let current = defaults

  async function refresh(): Promise<void> {
    const found = Object.entries(await ledger.settings()).map(([name, text]) => [name, parse(name, text)])
    // Settings that only another version knows are ignored.
    changed = Object.fromEntries(found.filter(([, value]) => value !== null))
    current = { ...defaults, ...changed }
    if (current.images === 'private') current.uploads = 'paused'
  }

  return {
    current: () => current,
    changed: () => changed,
    refresh,
    async change(changes, reason, by) {
      for (const [name, text] of Object.entries(changes)) {
        const values = valuesOf(name)
        if (values === null) {
          throw new SettingError(
            `there is no setting "${name}"; the settings are ${SETTING_NAMES.join(', ')}`,
          )
        }
        if (text !== null && parse(name, text) === null) {
          throw new SettingError(
            values === 'amount'
              ? `${name} must be a whole number; 0 means no limit`
              : `${name} must be ${CHOICES.format(values)}`,
          )
        }
      }
      // An override would outlast a later UPLOADS=paused.
      const isReset = changes.uploads === 'on' && defaults.uploads === 'on'
      const stored = isReset ? { ...changes, uploads: null } : changes
      await ledger.changeSettings(stored, reason, new Date(now()), by)
      await refresh()
    },
    ...createIntervalJob(refresh, INTERVAL_MS, onFailure, { isFirstDone: true }),
  }
}

function parse(name: string, text: string): string | number | null {
  const values = valuesOf(name)
  if (values === 'amount') return /^\d{1,15}$/.test(text) ? Number(text) : null
  return values?.find((word) => word === text) ?? null
}

/** `null`: unknown setting. */
function valuesOf(name: string): 'amount' | readonly string[] | null {
  return Object.hasOwn(VALUES, name) ? VALUES[name as SettingName] : null
}
