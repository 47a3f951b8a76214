/** What the forms behind the operator's door do. */
import { SETTING_NAMES, SettingError, type Settings } from '../../service/settings.ts'
import type { Takedown } from '../../service/takedown.ts'
import type { Ledger } from '../../stores/ledger.ts'
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
const SHOWN_CASES = 100
const RULE_PATTERN = /^[a-z][a-z0-9-]{0,39}$/

export async function factsOf({ settings, ledger, now }: Parts): Promise<OverviewFacts> {
  const [counts, cases, held, acts] = await Promise.all([
    ledger.counts(),
    ledger.cases(['open'], SHOWN_CASES),
    ledger.heldIds(SHOWN_HELD),
    ledger.acts(SHOWN_ACTS),
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

/** The same. `idIn`: finds the id in what a person pasted. */
export async function actOnImages(
  { takedown }: Parts,
  form: URLSearchParams,
  who: string,
  idIn: (text: string) => string | null,
): Promise<string | null> {
  const id = idIn(form.get('image') ?? '')
  if (id === null) return 'This is no image’s id.'
  const reason = reasonIn(form)
  if (reason === '') return 'Give a reason. It is recorded.'
  const rule = form.get('rule') ?? ''
  if (rule !== '' && !RULE_PATTERN.test(rule)) return 'A rule is like copyright.'
  const by = rule === '' ? { who } : { who, rule }
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

function reasonIn(form: URLSearchParams): string {
  return (form.get('reason') ?? '').replaceAll('\0', '').trim().slice(0, 1000)
}
