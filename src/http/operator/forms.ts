/** What the forms of the admin server do. */
import { ID_PATTERN } from '../../protocol.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import { SETTING_NAMES, SettingError, type Settings } from '../../service/settings.ts'
import type { Actor, Ledger } from '../../stores/ledger.ts'
import type { OverviewFacts } from '../../web/operator/overview.ts'

interface Parts {
  takedown: Takedown
  settings: Settings
  ledger: Ledger
  /** Epoch milliseconds. */
  now: () => number
}

const SHOWN_ACTS = 50
const SHOWN_HELD = 200
const COUNTED_CASES = 1000
const RULE_PATTERN = /^[a-z][a-z0-9-]{0,39}$/

export async function factsOf({ settings, ledger, now }: Parts): Promise<OverviewFacts> {
  const [counts, cases, held, acts] = await Promise.all([
    ledger.counts(),
    ledger.cases(['open'], COUNTED_CASES),
    ledger.heldIds(SHOWN_HELD),
    ledger.auditLog(SHOWN_ACTS),
    settings.refresh(),
  ])
  return {
    isPaused: settings.current().uploads === 'paused',
    settings: SETTING_NAMES.map((name) => ({
      name,
      value: `${settings.current()[name]}`,
      isChanged: name in settings.changed(),
    })),
    counts: Object.entries(counts).flatMap(([name, value]) =>
      typeof value === 'number' ? [{ name, value }] : [],
    ),
    cases,
    now: now(),
    held,
    acts,
  }
}

/** What is wrong with the form, or `null` if it is done. */
export async function changeSetting(
  { settings }: Parts,
  form: URLSearchParams,
  who: string,
): Promise<string | null> {
  const value = form.get('value') ?? ''
  try {
    await settings.change({ [form.get('name') ?? '']: value === '' ? null : value }, reasonIn(form), { who })
    return null
  } catch (error) {
    if (error instanceof SettingError) return error.message
    throw error
  }
}

/** The same, of an act that can't be undone. */
export async function actOnImages(
  { takedown }: Parts,
  form: URLSearchParams,
  who: string,
): Promise<string | null> {
  const id = idIn(form.get('image') ?? '')
  if (id === null) return 'This is no image’s id.'
  const grounds = groundsIn(form, who)
  if (typeof grounds === 'string') return grounds
  const { reason, by } = grounds
  const others = form.get('same-uploader') === 'on' ? await takedown.sameUploader(id) : []
  let missed = 0
  for (const each of [id, ...others]) {
    switch (form.get('act')) {
      case 'hold':
        if (!(await takedown.hold(each, reason, by))) missed++
        break
      case 'keep':
        if (!(await takedown.keep(each, reason, by))) missed++
        break
      case 'release':
        if (!(await takedown.release(each, reason, by))) missed++
        break
      case 'remove':
        if (!(await takedown.remove(each, reason, { block: form.get('block') === 'on', by })).removed)
          missed++
        break
      default:
        return 'Say what to do: hold, keep, release or remove.'
    }
  }
  return missed === 0 ? null : `${missed} of ${others.length + 1} were not there to do this to.`
}

/** Why, and who: or what is wrong with it. */
export function groundsIn(form: URLSearchParams, who: string): { reason: string; by: Actor } | string {
  const reason = reasonIn(form)
  if (reason === '') return 'Give a reason. It is recorded.'
  const rule = form.get('rule') ?? ''
  if (rule !== '' && !RULE_PATTERN.test(rule)) return 'A rule is like copyright.'
  return { reason, by: rule === '' ? { who } : { who, rule } }
}

function reasonIn(form: URLSearchParams): string {
  return (form.get('reason') ?? '').replaceAll('\0', '').trim().slice(0, 1000)
}

/** The id in what a person pasted: an id, or an address that ends with one. */
export function idIn(text: string): string | null {
  const id = text
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/^.*\//, '')
    .replace(/\.\w+$/, '')
  return ID_PATTERN.test(id) ? id : null
}
