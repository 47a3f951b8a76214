/** Form actions of the admin server. */
import { idIn } from '../../service/images/ids.ts'
import { RULE_PATTERN } from '../../service/moderation/report-categories.ts'
import { withRelated } from '../../service/moderation/takedown.ts'
import { SETTING_NAMES, SettingError } from '../../service/settings.ts'
import type { Actor } from '../../stores/ledger.ts'
import { MAX_COUNTED_CASES, MAX_SHOWN_HELD, type OverviewFacts } from '../../web/operator/overview.ts'
import type { OperatorParts } from './access.ts'

type Parts = Pick<OperatorParts, 'takedown' | 'decisions' | 'settings' | 'ledger' | 'now' | 'maxImages'>

const MAX_SHOWN_ENTRIES = 50
/** Default limit on images that one form may hold. */
const MAX_IMAGES = 1000

export async function factsOf({ settings, ledger, decisions, now }: Parts): Promise<OverviewFacts> {
  const [counts, cases, held, acts, pending] = await Promise.all([
    ledger.counts(),
    ledger.cases(['open'], MAX_COUNTED_CASES + 1),
    ledger.heldIds(MAX_SHOWN_HELD + 1),
    ledger.auditLog(MAX_SHOWN_ENTRIES),
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

/** Changes a setting. Returns an error message, or `null` on success. */
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

/**
 * Holds, removes, keeps or releases an image and, if selected, related images. Hold and remove can be undone for a short
 * time. Returns an error message, or `null` on success.
 */
export async function actOnImages(
  { takedown, decisions }: Parts,
  form: URLSearchParams,
  who: string,
): Promise<string | null> {
  const id = idIn(form.get('image') ?? '')
  if (id === null) return 'This is not an image ID or link.'
  const grounds = parseGrounds(form, who)
  if (typeof grounds === 'string') return grounds
  const { reason, by } = grounds
  const ids = await withRelated(takedown, [id], relationsIn(form))
  const act = form.get('act')
  if (act === 'hold' || act === 'remove') {
    const block = form.get('block') === 'on'
    const { missed } = await decisions.decide(ids, act, { block, reason, by })
    return missedMessage(missed.length, ids.length)
  }
  if (act !== 'keep' && act !== 'release') return 'Choose an action: hold, keep, release or remove.'
  let missed = 0
  for (const each of ids) if (!(await takedown[act](each, reason, by))) missed++
  return missedMessage(missed, ids.length)
}

/**
 * Holds a pasted list of images, or all uploads of the last minutes, and, if selected, related images. Returns an error
 * message, or `null` on success.
 */
export async function holdMany(
  { takedown, decisions, ledger, now, maxImages = MAX_IMAGES }: Parts,
  form: URLSearchParams,
  who: string,
): Promise<string | null> {
  const grounds = parseGrounds(form, who)
  if (typeof grounds === 'string') return grounds
  const pasted = (form.get('images') ?? '').split(/[\s,]+/).filter((text) => text !== '')
  const ids = pasted.map(idIn)
  const invalid = pasted[ids.indexOf(null)]
  if (invalid !== undefined) return `“${invalid.slice(0, 100)}” is not an image ID or link.`
  const minutes = form.get('minutes') ?? ''
  if (!/^\d{0,4}$/.test(minutes)) return 'The period must be a number of minutes.'
  const recent =
    minutes === ''
      ? []
      : await ledger.uploadedBetween(now() - Number(minutes) * 60_000, now() + 1, MAX_IMAGES + 1)
  const named = [...(ids as string[]), ...recent]
  if (named.length === 0)
    return 'Enter images or a period. If you entered a period, no uploads are recorded in it.'
  const all = await withRelated(takedown, named, relationsIn(form))
  if (all.length > maxImages)
    return `These are too many images. At most ${maxImages} can be held at a time, any number by the command hold --since.`
  const { missed } = await decisions.decide(all, 'hold', { block: false, ...grounds })
  return missedMessage(missed.length, all.length)
}

/** Which related images the form includes. */
export function relationsIn(form: URLSearchParams): { sameUploader: boolean; sameNetwork: boolean } {
  return {
    sameUploader: form.get('same-uploader') === 'on',
    sameNetwork: form.get('same-network') === 'on',
  }
}

/** Error message when some images could not be acted on. */
export function missedMessage(missed: number, all: number): string | null {
  if (missed === 0) return null
  const message = `${missed} of ${all} images do not exist or have already been decided.`
  return missed === all ? message : `${message} The others are done.`
}

/** The reason and the actor of a form, or an error message. `fallback`: the reason if none is entered. */
export function parseGrounds(
  form: URLSearchParams,
  who: string,
  fallback = '',
): { reason: string; by: Actor } | string {
  const reason = reasonIn(form) || fallback
  if (reason === '') return 'Enter a reason. It goes into the audit log.'
  const rule = form.get('rule') ?? ''
  if (rule !== '' && !RULE_PATTERN.test(rule)) return 'A rule is a lower-case name such as copyright.'
  return { reason, by: rule === '' ? { who } : { who, rule } }
}

function reasonIn(form: URLSearchParams): string {
  return (form.get('reason') ?? '').replaceAll('\0', '').trim().slice(0, 1000)
}
