/** What the forms of the admin server do. */
import { idIn } from '../../service/images/ids.ts'
import { RULE_PATTERN } from '../../service/moderation/report-categories.ts'
import { withRelated } from '../../service/moderation/takedown.ts'
import { SETTING_NAMES, SettingError } from '../../service/settings.ts'
import type { Actor } from '../../stores/ledger.ts'
import type { OverviewFacts } from '../../web/operator/overview.ts'
import type { OperatorParts } from './access.ts'

type Parts = Pick<OperatorParts, 'takedown' | 'decisions' | 'settings' | 'ledger' | 'now' | 'maxImages'>

const SHOWN_ACTS = 50
const SHOWN_HELD = 200
const COUNTED_CASES = 1000
/** Images that one form may hold, where a request may make any number of calls. */
const MAX_AT_ONCE = 1000

export async function factsOf({ settings, ledger, decisions, now }: Parts): Promise<OverviewFacts> {
  const [counts, cases, held, acts, pending] = await Promise.all([
    ledger.counts(),
    ledger.cases(['open'], COUNTED_CASES),
    ledger.heldIds(SHOWN_HELD),
    ledger.auditLog(SHOWN_ACTS),
    decisions.pending(),
    settings.refresh(),
  ])
  return {
    isPaused: settings.current().uploads === 'paused',
    settings: SETTING_NAMES.map((name) => ({
      name,
      value: `${settings.current()[name]}`,
      isChanged: name in settings.changed(),
    })),
    counts,
    cases,
    now: now(),
    held,
    acts,
    pending,
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

/** The same, of an image and those that go with it. What hides them can be undone for a while. */
export async function actOnImages(
  { takedown, decisions }: Parts,
  form: URLSearchParams,
  who: string,
): Promise<string | null> {
  const id = idIn(form.get('image') ?? '')
  if (id === null) return 'This is no image’s id.'
  const grounds = groundsIn(form, who)
  if (typeof grounds === 'string') return grounds
  const { reason, by } = grounds
  const ids = await withRelated(takedown, [id], relationsIn(form))
  const act = form.get('act')
  if (act === 'hold' || act === 'remove') {
    const block = form.get('block') === 'on'
    const { missed } = await decisions.decide(ids, act, { block, reason, by })
    return missedOf(missed.length, ids.length)
  }
  if (act !== 'keep' && act !== 'release') return 'Say what to do: hold, keep, release or remove.'
  let missed = 0
  for (const each of ids) if (!(await takedown[act](each, reason, by))) missed++
  return missedOf(missed, ids.length)
}

/** Holds what somebody pasted, or all of a time, and what is related to it. */
export async function holdMany(
  { takedown, decisions, ledger, now, maxImages = MAX_AT_ONCE }: Parts,
  form: URLSearchParams,
  who: string,
): Promise<string | null> {
  const grounds = groundsIn(form, who)
  if (typeof grounds === 'string') return grounds
  const pasted = (form.get('images') ?? '').split(/[\s,]+/).filter((text) => text !== '')
  const ids = pasted.map(idIn)
  const wrong = pasted[ids.indexOf(null)]
  if (wrong !== undefined) return `“${wrong.slice(0, 100)}” is no image’s id.`
  const minutes = form.get('minutes') ?? ''
  if (!/^\d{0,4}$/.test(minutes)) return 'A time is a number of minutes.'
  const recent =
    minutes === ''
      ? []
      : await ledger.uploadedBetween(now() - Number(minutes) * 60_000, now() + 1, MAX_AT_ONCE)
  const named = [...(ids as string[]), ...recent]
  if (named.length === 0) return 'Name images or a time. There was no upload in it, or none is on record.'
  const all = await withRelated(takedown, named, relationsIn(form))
  if (all.length > maxImages)
    return `These are ${all.length} images. At most ${maxImages} are held in one act: name fewer, several times.`
  const { missed } = await decisions.decide(all, 'hold', { block: false, ...grounds })
  return missedOf(missed.length, all.length)
}

/** What a form says of the images that go with those it names. */
export function relationsIn(form: URLSearchParams): { sameUploader: boolean; sameNetwork: boolean } {
  return {
    sameUploader: form.get('same-uploader') === 'on',
    sameNetwork: form.get('same-network') === 'on',
  }
}

export function missedOf(missed: number, all: number): string | null {
  return missed === 0 ? null : `${missed} of ${all} were not there to do this to, or are decided already.`
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
