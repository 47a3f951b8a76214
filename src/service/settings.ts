/**
 * What the operator changes while servers run: in the ledger, and looked up again by every process so often that a
 * change takes effect within a second. What was not changed is as the configuration says.
 */

import { type BackgroundJob, createIntervalJob } from '../async.ts'
import type { Actor, Ledger } from '../stores/ledger.ts'

export interface SettingValues {
  uploads: 'on' | 'paused'
  /** Private: nobody is shown a picture, and no upload is taken. Owners can delete, the operator can look. */
  images: 'public' | 'private'
  /** Proof of work before an upload: of all, of none, or while there are more uploads than `challenge-rate`. */
  challenge: ChallengeMode
  /** Uploads of all in an hour: more turn challenges on if they are `auto`. 0: any number does not. */
  'challenge-rate': number
  /** Cap of the whole instance, each UTC day. 0: no cap. */
  'daily-uploads': number
  /** Likewise. Unit: bytes. */
  'daily-bytes': number
  /** Cap of one network (/24, or /48 of IPv6), each UTC day. 0: no cap. */
  'network-uploads': number
  /** With less free on the disk no upload is taken. 0: only what the store itself needs. Unit: bytes. */
  'min-free-bytes': number
  /** Minutes that an urgent report may stay unanswered, once somebody was told, before uploads pause. 0: never. */
  'unanswered-minutes': number
}

export type ChallengeMode = 'off' | 'auto' | 'on'

export type SettingName = keyof SettingValues

/** The settings, read from the ledger at an interval. */
export interface Settings extends BackgroundJob {
  /** As last looked up. */
  current(): SettingValues
  /** Which of them the operator changed. */
  changed(): Partial<SettingValues>
  /** Throws what the ledger throws. */
  refresh(): Promise<void>
  /** Each change by name, as text; `null`: as the configuration says. Throws `SettingError`. */
  change(changes: Record<string, string | null>, reason: string, by?: Actor): Promise<void>
}

/** A setting or a value that there is none of. */
export class SettingError extends Error {}

const INTERVAL_MS = 400

/** The words that a setting may be, or that it is an amount. */
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

/** As in "off, auto or on". */
const CHOICES = new Intl.ListFormat('en-GB', { type: 'disjunction' })

export function createSettings(parts: {
  ledger: Pick<Ledger, 'settings' | 'changeSettings'>
  /** As configured. */
  defaults: SettingValues
  now: () => number
  /** Hears when they could not be looked up. The last ones stay in force. */
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
      await ledger.changeSettings(changes, reason, new Date(now()), by)
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

/** `null`: there is no such setting. */
function valuesOf(name: string): 'amount' | readonly string[] | null {
  return Object.hasOwn(VALUES, name) ? VALUES[name as SettingName] : null
}
