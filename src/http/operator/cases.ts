/** The queue of the admin server: what waits, one case at a time, and what is decided. */
import { forEachConcurrent } from '../../async.ts'
import type { Principal } from '../../service/admin-sessions.ts'
import { findImage, recordAnywhere } from '../../service/images/status.ts'
import { type RelatedImages, withRelated } from '../../service/moderation/takedown.ts'
import type { DecidedAct } from '../../stores/decisions.ts'
import { LedgerUnavailable } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, StoreUnavailable } from '../../stores/object-store.ts'
import type { Case } from '../../stores/reports.ts'
import { type CaseFacts, casePage } from '../../web/operator/case.ts'
import { othersPage } from '../../web/operator/others.ts'
import { isStep, type Step } from '../../web/operator/picture.ts'
import { queuePage } from '../../web/operator/queue.ts'
import type { AppContext } from '../context.ts'
import type { Access, OperatorParts } from './access.ts'
import { groundsIn, missedOf, relationsIn } from './forms.ts'

/** The caps of a day bound how many come. */
const LISTED = 1000
const SHOWN_REPORTS = 20
const MAX_OTHERS = 1000

const ACTS: Record<string, { act: DecidedAct; block: boolean }> = {
  keep: { act: 'keep', block: false },
  hold: { act: 'hold', block: false },
  remove: { act: 'remove', block: false },
  'remove-and-block': { act: 'remove', block: true },
}

export function createCasePages(parts: OperatorParts, { contextOf, send, mistaken }: Access) {
  const { ledger, objects, takedown, decisions, now } = parts
  const digests = createDigests(objects, parts.maxImages)
  const related: RelatedImages = {
    sameUploader: (id) => ledger.sameUploader(id, MAX_OTHERS),
    sameNetwork: (id) => ledger.sameNetwork(id, MAX_OTHERS),
  }

  /** Others in the queue that have the same bytes. */
  async function doublesOf(id: string, cases: Case[]): Promise<string[]> {
    const known = await digests.of([id, ...cases.map((each) => each.id)])
    const digest = known.get(id)
    if (digest === undefined || digest === null) return []
    return cases.map((each) => each.id).filter((other) => other !== id && known.get(other) === digest)
  }

  async function listed(state: Case['state'] | undefined): Promise<Case[]> {
    return ledger.cases([state === 'held' ? 'held' : 'open'], LISTED)
  }

  /** A case can be decided without them: their file can't be opened on a full disk. */
  async function othersOf(id: string): Promise<string[] | null> {
    try {
      return await related.sameUploader(id)
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      parts.log.warn({ err: error }, 'the links of uploads could not be read')
      return null
    }
  }

  async function factsOf(id: string, show: Step): Promise<CaseFacts> {
    const [found, reports, image, others, pending] = await Promise.all([
      ledger.caseOf(id),
      ledger.reportsOf(id, SHOWN_REPORTS),
      findImage(parts, id),
      othersOf(id),
      decisions.pending(),
    ])
    const cases = await listed(found?.state)
    const at = cases.findIndex((each) => each.id === id)
    return {
      id,
      found,
      reports,
      image,
      others: others?.length ?? null,
      doubles: await doublesOf(id, cases),
      previous: cases[at - 1]?.id ?? null,
      next: (at < 0 ? null : cases[at + 1]?.id) ?? null,
      show,
      pending,
      now: now(),
    }
  }

  const stepIn = (c: AppContext): Step => {
    const asked = c.req.query('show') ?? ''
    return isStep(asked) ? asked : 'text'
  }
  const idOf = (c: AppContext): string => c.req.param('id') ?? ''

  return {
    async list(c: AppContext, principal: Principal): Promise<Response> {
      const isHeld = c.req.query('state') === 'held'
      const [cases, pending] = await Promise.all([listed(isHeld ? 'held' : 'open'), decisions.pending()])
      const known = await digests.of(cases.map(({ id }) => id))
      return send(c, queuePage(contextOf(principal), { cases, digests: known, isHeld, pending, now: now() }))
    },

    async show(c: AppContext, principal: Principal): Promise<Response> {
      return send(c, casePage(contextOf(principal), await factsOf(idOf(c), stepIn(c))))
    },

    async showOthers(c: AppContext, principal: Principal): Promise<Response> {
      const id = idOf(c)
      const [others, pending, found] = await Promise.all([
        related.sameUploader(id),
        decisions.pending(),
        ledger.caseOf(id),
      ])
      const show = stepIn(c) === 'text' ? 'text' : 'mosaic'
      const facts = { id, isReported: found !== null, others, show, pending, now: now() } as const
      return send(c, othersPage(contextOf(principal), facts))
    },

    async decide(c: AppContext, form: URLSearchParams, { who }: Principal): Promise<Response> {
      const id = idOf(c)
      const grounds = groundsIn(form, who)
      if (typeof grounds === 'string') return mistaken(c, grounds)
      const { reason, by } = grounds
      if (form.get('act') === 'release') {
        if (await takedown.release(id, reason, by)) return c.redirect(`/cases/${id}`, 303)
        return mistaken(c, 'It is not held.')
      }
      const decided = ACTS[form.get('act') ?? '']
      if (decided === undefined)
        return mistaken(c, `Say what to do: ${Object.keys(ACTS).join(', ')} or release.`)
      const found = await ledger.caseOf(id)
      const doubles = form.get('same-bytes') === 'on' ? await doublesOf(id, await listed(found?.state)) : []
      const ids = [...new Set([...(await withRelated(related, [id], relationsIn(form))), ...doubles])]
      const { missed } = await decisions.decide(ids, decided.act, { block: decided.block, reason, by })
      const mistake = missedOf(missed.length, ids.length)
      if (mistake !== null) return mistaken(c, mistake)
      const [next] = await ledger.cases(['open'], 1)
      return c.redirect(next === undefined ? '/queue' : `/cases/${next.id}`, 303)
    },

    async undo(c: AppContext, form: URLSearchParams, { who }: Principal): Promise<Response> {
      const [id] = await decisions.undo(form.get('batch') ?? '', who)
      if (id !== undefined) return c.redirect(`/cases/${id}`, 303)
      return mistaken(c, 'It is too late to undo this. A held image can be released.')
    },
  }
}

const REMEMBERED = 10_000
const READ_AT_ONCE = 16

/**
 * SHA-256 of images by their ids, remembered: what an id names never changes. `null`: the image is not there. Ids past `maxLooked` look-ups, and those that the store does not answer for, are left out.
 */
export function createDigests(
  objects: Pick<ObjectStore, 'head' | 'headHeld'>,
  maxLooked = Number.POSITIVE_INFINITY,
): { of(ids: string[]): Promise<ReadonlyMap<string, string | null>> } {
  const known = new Map<string, string>()

  function remember(id: string, digest: string): void {
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value!)
    known.set(id, digest)
  }

  return {
    async of(ids) {
      const all = [...new Set(ids)]
      const found = new Map<string, string | null>(
        all.flatMap((id) => (known.has(id) ? [[id, known.get(id)!]] : [])),
      )
      const unknown = all.filter((id) => !found.has(id)).slice(0, maxLooked)
      let isAway = false
      await forEachConcurrent(unknown, READ_AT_ONCE, async (id) => {
        if (isAway) return
        try {
          const record = await recordAnywhere(objects, id)
          found.set(id, record?.sha256 ?? null)
          if (record !== null) remember(id, record.sha256)
        } catch (error) {
          // Cases can be decided without.
          if (error instanceof StoreUnavailable) isAway = true
          else if (!(error instanceof DamagedObject)) throw error
        }
      })
      return found
    },
  }
}
