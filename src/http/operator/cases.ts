/** The review queue of the admin server: lists the cases, shows one at a time and carries out decisions. */
import { forEachConcurrent } from '../../async.ts'
import type { Principal } from '../../service/admin-sessions.ts'
import { findImage, recordAnywhere } from '../../service/images/status.ts'
import { withRelated } from '../../service/moderation/takedown.ts'
import type { DecidedAct } from '../../stores/decisions.ts'
import { LedgerUnavailable } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore, StoreUnavailable } from '../../stores/object-store.ts'
import type { Case } from '../../stores/reports.ts'
import { type CaseFacts, casePage } from '../../web/operator/case.ts'
import { DEFAULT_REASON } from '../../web/operator/decision.ts'
import { othersPage } from '../../web/operator/others.ts'
import { type DetailLevel, isDetailLevel } from '../../web/operator/picture.ts'
import { queuePage } from '../../web/operator/queue.ts'
import type { AppContext } from '../context.ts'
import type { Access, OperatorParts } from './access.ts'
import { missedMessage, parseGrounds, relationsIn } from './forms.ts'

/** Further cases are neither listed nor searched for duplicates. The most urgent come first. */
const MAX_LISTED_CASES = 1000
const MAX_SHOWN_REPORTS = 20

const ACTIONS: Record<string, { act: DecidedAct; block: boolean }> = {
  keep: { act: 'keep', block: false },
  hold: { act: 'hold', block: false },
  remove: { act: 'remove', block: false },
  'remove-and-block': { act: 'remove', block: true },
}

export function createCasePages(parts: OperatorParts, { contextOf, send, mistaken }: Access) {
  const { ledger, objects, takedown, decisions, now } = parts
  const digests = createDigests(objects, parts.maxImages)

  /** Other images in the queue with identical bytes. */
  async function duplicatesOf(id: string, cases: Case[]): Promise<string[]> {
    const digestOf = await digests.of([{ id }, ...cases])
    const digest = digestOf.get(id)
    if (digest === undefined || digest === null) return []
    return cases.map((each) => each.id).filter((other) => other !== id && digestOf.get(other) === digest)
  }

  async function casesIn(state: Case['state'] | undefined, limit = MAX_LISTED_CASES): Promise<Case[]> {
    return ledger.cases([state === 'held' ? 'held' : 'open'], limit)
  }

  /** `null` when unavailable, e.g. on a full disk: a case can be decided without the related uploads. */
  async function othersOf(id: string): Promise<string[] | null> {
    try {
      return await takedown.sameUploader(id)
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      parts.log.warn({ err: error }, 'failed to read related uploads')
      return null
    }
  }

  async function factsOf(id: string, show: DetailLevel): Promise<CaseFacts> {
    const [found, reports, image, others, pending] = await Promise.all([
      ledger.caseOf(id),
      ledger.reportsOf(id, MAX_SHOWN_REPORTS),
      findImage(parts, id),
      othersOf(id),
      decisions.pending(),
    ])
    const cases = await casesIn(found?.state)
    const at = cases.findIndex((each) => each.id === id)
    return {
      id,
      found,
      reports,
      image,
      others: others?.length ?? null,
      duplicates: await duplicatesOf(id, cases),
      previous: cases[at - 1]?.id ?? null,
      next: (at < 0 ? null : cases[at + 1]?.id) ?? null,
      show,
      pending,
      now: now(),
    }
  }

  const detailLevelIn = (c: AppContext): DetailLevel => {
    const level = c.req.query('show') ?? ''
    return isDetailLevel(level) ? level : 'text'
  }
  const idOf = (c: AppContext): string => c.req.param('id') ?? ''

  return {
    async list(c: AppContext, principal: Principal): Promise<Response> {
      const isHeld = c.req.query('state') === 'held'
      const [cases, pending] = await Promise.all([casesIn(isHeld ? 'held' : 'open'), decisions.pending()])
      const digestOf = await digests.of(cases)
      return send(
        c,
        queuePage(contextOf(principal), { cases, digests: digestOf, isHeld, pending, now: now() }),
      )
    },

    async show(c: AppContext, principal: Principal): Promise<Response> {
      return send(c, casePage(contextOf(principal), await factsOf(idOf(c), detailLevelIn(c))))
    },

    async showOthers(c: AppContext, principal: Principal): Promise<Response> {
      const id = idOf(c)
      const [others, pending, found] = await Promise.all([
        takedown.sameUploader(id),
        decisions.pending(),
        ledger.caseOf(id),
      ])
      const show = detailLevelIn(c) === 'text' ? 'text' : 'mosaic'
      const facts = { id, isReported: found !== null, others, show, pending, now: now() } as const
      return send(c, othersPage(contextOf(principal), facts))
    },

    async decide(c: AppContext, form: URLSearchParams, { who }: Principal): Promise<Response> {
      const id = idOf(c)
      const act = form.get('act') ?? ''
      const found = await ledger.caseOf(id)
      const isInFavour = act === 'keep' || act === 'release'
      const fallback = found === null ? '' : DEFAULT_REASON[isInFavour ? 'favour' : 'other']
      const grounds = parseGrounds(form, who, fallback)
      if (typeof grounds === 'string') return mistaken(c, grounds)
      const { reason, by } = grounds
      if (act === 'release') {
        if (await takedown.release(id, reason, by)) return c.redirect(`/cases/${id}`, 303)
        return mistaken(c, 'This image is not held.')
      }
      const action = ACTIONS[act]
      if (action === undefined)
        return mistaken(c, `Choose an action: ${Object.keys(ACTIONS).join(', ')} or release.`)
      const duplicates =
        form.get('same-bytes') === 'on' ? await duplicatesOf(id, await casesIn(found?.state)) : []
      const ids = [...new Set([...(await withRelated(takedown, [id], relationsIn(form))), ...duplicates])]
      const { missed } = await decisions.decide(ids, action.act, { block: action.block, reason, by })
      // There is nothing to decide about related images that nobody reported.
      const isKept = action.act === 'keep' && !missed.includes(id)
      const mistake = isKept ? null : missedMessage(missed.length, ids.length)
      if (mistake !== null) return mistaken(c, mistake)
      // The first one left in the same list. Held cases stay in theirs until their decision is carried out.
      const decided = new Set((await decisions.pending()).map((each) => each.id))
      const next = (await casesIn(found?.state, decided.size + 1)).find((each) => !decided.has(each.id))
      if (next !== undefined) return c.redirect(`/cases/${next.id}`, 303)
      return c.redirect(found?.state === 'held' ? '/queue?state=held' : '/queue', 303)
    },

    async undo(c: AppContext, form: URLSearchParams, { who }: Principal): Promise<Response> {
      const [id] = await decisions.undo(form.get('batch') ?? '', who)
      if (id !== undefined) return c.redirect(`/cases/${id}`, 303)
      return mistaken(c, 'It is too late to undo this decision. You can still release a held image.')
    },
  }
}

const MAX_CACHED = 10_000
const MAX_CONCURRENT_READS = 16

/**
 * Looks up the SHA-256 of images by ID, with a cache: the content of an ID never changes. `null` when the image is missing.
 * Leaves out IDs beyond `maxLookups` store reads, damaged images, and IDs for which the store is unavailable.
 */
export function createDigests(
  objects: Pick<ObjectStore, 'head' | 'headHeld'>,
  maxLookups = Number.POSITIVE_INFINITY,
): { of(images: { id: string; isImageGone?: boolean }[]): Promise<ReadonlyMap<string, string | null>> } {
  const cached = new Map<string, string>()

  function remember(id: string, digest: string): void {
    if (cached.size >= MAX_CACHED) cached.delete(cached.keys().next().value!)
    cached.set(id, digest)
  }

  return {
    async of(images) {
      const found = new Map<string, string | null>()
      for (const { id, isImageGone } of images) {
        const digest = isImageGone ? null : cached.get(id)
        if (digest !== undefined) found.set(id, digest)
      }
      const ids = new Set(images.map(({ id }) => id))
      const unknown = [...ids].filter((id) => !found.has(id)).slice(0, maxLookups)
      let isUnavailable = false
      await forEachConcurrent(unknown, MAX_CONCURRENT_READS, async (id) => {
        if (isUnavailable) return
        try {
          const record = await recordAnywhere(objects, id)
          found.set(id, record?.sha256 ?? null)
          if (record !== null) remember(id, record.sha256)
        } catch (error) {
          // Cases can be decided without the digests.
          if (error instanceof StoreUnavailable) isUnavailable = true
          else if (!(error instanceof DamagedObject)) throw error
        }
      })
      return found
    },
  }
}
