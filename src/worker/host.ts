/** The service as one isolate has it: stores, rules and pages, and the way of a request into them. */
import type { Config } from '../config.ts'
import type { createApp } from '../http/app.ts'
import type { AppParts, Site } from '../http/context.ts'
import { trustedProxies } from '../http/headers/client-address.ts'
import { createOrigins } from '../http/headers/cross-site.ts'
import type { Log } from '../http/log.ts'
import { CONDITION_HEADERS } from '../http/routes/image-answers.ts'
import { createRaw, isRawTarget } from '../http/routes/raw.ts'
import { createUpload, takesUploads } from '../http/routes/upload.ts'
import type { Notifier } from '../notify/notifier.ts'
import { createAdminSessions } from '../service/admin-sessions.ts'
import { newRateState } from '../service/challenge/upload-rate.ts'
import type { ExpiryClock } from '../service/expiry-clock.ts'
import { createDerive } from '../service/images/identities.ts'
import type { Evidence } from '../service/moderation/evidence.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { ObjectStore } from '../stores/object-store.ts'
import { siteFactsOf } from '../web/pages/site-facts.ts'
import { lifetimeRules } from '../wiring/settings.ts'
import { warning, wireSettings, wireUploads } from '../wiring/uploads.ts'
import type { WorkerAssets } from './assets.ts'
import { createBackground } from './background.ts'
import { readBody } from './body.ts'
import { asCoded, asSent, headerOf, responseOf, unavailable } from './exchange.ts'
import { workerHashes as hashes } from './hashes.ts'
import { LIMITS, type Limits } from './limits.ts'
import { createPurging, type Execution } from './purging.ts'
import { createUploadQueue, type IsolateUploadQueue } from './upload-queue.ts'

export interface Host {
  fetch(request: Request, context: Execution): Promise<Response>
  /** What the cron trigger runs, each minute. */
  scheduled(context: Execution): Promise<void>
  readonly uploadQueue: IsolateUploadQueue
}

/** What the operator changes takes effect within this time. Unit: milliseconds. */
const SETTINGS_HOLD_MS = 1000

/** Each takes ten calls to be hidden, of which a request has a thousand. */
const MAX_IMAGES = 60

const NO_METRICS = { upload() {}, removalByKey() {}, report() {} }

export function createHost(given: {
  config: Config & { baseUrl: string }
  objects: ObjectStore
  ledger: Ledger
  notifiers: Notifier[]
  evidence: Evidence | null
  assets: WorkerAssets
  log: Log
  limits?: Partial<Limits>
}): Host {
  const { config, objects, evidence, assets, log } = given
  const { baseUrl, maxUploadBytes } = config
  const limits = { ...LIMITS, ...given.limits }
  const now = Date.now
  // Cloudflare's clock is right.
  const expiryClock: ExpiryClock = { latest: now, earliest: now }
  const background = createBackground()
  const ledger = background.tracked(given.ledger)
  const uploadQueue = createUploadQueue(limits, config.uploadsAtOnce)
  const purging = createPurging({ config, ledger, now, log })
  const { cdn, purges } = purging
  const settings = wireSettings({ config, ledger, now, log })
  let settingsAt = 0

  const metrics = NO_METRICS
  const wiring = { config, objects, ledger, purges, settings, metrics, hashes, expiryClock, now, log }
  const uploads = wireUploads({
    ...wiring,
    freeBytes: () => null,
    rateState: newRateState(),
    moves: {
      async carryOut(id) {
        const { wireMoves } = await import('../wiring/moderation.ts')
        return wireMoves(wiring).carryOut(id)
      },
    },
  })
  const { scanner, rules, isPrivate } = uploads
  const images = uploads.images()
  const acting = { ...wiring, images, scanner, rules, evidence }
  const site: Site = {
    facts: siteFactsOf(config, baseUrl, assets.urls),
    asset: assets.asset,
  }
  const parts: AppParts = {
    baseUrl,
    onionUrl: config.onionUrl,
    maxUploadBytes,
    uploadsPaused: () => settings.current().uploads === 'paused',
    images,
    quota: uploads.quota(),
    derive: createDerive(ledger, hashes),
    lifetimes: lifetimeRules(config),
    hashes,
    capacity: uploads.capacity(),
    uploadQueue: uploadQueue.queueFor(0),
    challenges: uploads.challenges(),
    origins: createOrigins(baseUrl, config.allowedOrigins),
    trusted: trustedProxies([]),
    site,
    reports: uploads.reports(),
    health: {
      async faults() {
        const [store, kept] = await Promise.allSettled([objects.check(), ledger.check()])
        return {
          ...(store.status === 'rejected' && { store: 'unavailable' }),
          ...(kept.status === 'rejected' && { ledger: 'unavailable' }),
        }
      },
      purges: purges.pending,
    },
    metrics,
    log,
  }
  const raw = createRaw({ images, cdn, baseUrl, site, log, isPrivate, expiryClock })
  /** Loaded by the first request that needs it, as are the operator's part and the rounds: views and uploads start without. */
  let app: ReturnType<typeof createApp> | undefined

  /** Workers Cache keeps whole answers, and takes parts of them itself. */
  function rawHeaderOf(request: Request): (name: string) => string | undefined {
    const header = headerOf(request)
    return cdn === null
      ? header
      : (name) => (name === 'range' || name === 'if-range' ? undefined : header(name))
  }

  /** Throws if they were never looked up. */
  async function lookUpSettings(): Promise<void> {
    const at = Date.now()
    if (at - settingsAt < SETTINGS_HOLD_MS) return
    // Others go on with the last ones, once there are any.
    if (settingsAt > 0) settingsAt = at
    try {
      await settings.refresh()
      settingsAt = at
    } catch (error) {
      // The configuration’s would show what the operator has made private, and take uploads that are paused.
      if (settingsAt === 0) throw error
      warning(log, 'settings could not be looked up')(error)
    }
  }

  /** As if in a process of its own: what it shares with others are numbers and texts, never a promise. */
  async function upload(
    request: Request,
    { path, query }: { path: string; query: string },
    peer: string,
  ): Promise<Response> {
    const header = headerOf(request)
    const length = header('content-length')
    const announced = length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : maxUploadBytes
    const queue = uploadQueue.queueFor(Math.min(announced, maxUploadBytes))
    const body = readBody(request, limits, queue.touch)
    const [quota, capacity, challenges] = [uploads.quota(), uploads.capacity(), uploads.challenges()]
    const answering = createUpload({
      ...parts,
      images: uploads.images(),
      quota,
      capacity,
      challenges,
      uploadQueue: queue,
    })
    const answer = await answering({
      method: request.method,
      path,
      query,
      peer,
      header: (name) => (name === 'x-forwarded-for' ? undefined : header(name)),
      body,
      onGone(act) {
        request.signal.addEventListener('abort', act)
        return () => request.signal.removeEventListener('abort', act)
      },
      requestId: crypto.randomUUID(),
    })
    await body.drain(limits.drainBytes)
    await Promise.allSettled([quota, capacity, challenges].map((part) => part.stop()))
    return responseOf(answer)
  }

  async function other(request: Request, target: string, peer: string): Promise<Response> {
    const { method } = request
    if ((method === 'GET' || method === 'HEAD') && isRawTarget(target)) {
      const header = rawHeaderOf(request)
      const answer = await raw({
        method,
        target,
        isConditional: [...CONDITION_HEADERS].some((name) => header(name) !== undefined),
        header,
      })
      if (answer !== null) return responseOf(answer)
    }
    const body = readBody(request, limits, () => {})
    app ??= (await import('../http/app.ts')).createApp(parts)
    const response = await app.fetch(asSent(request), { peer, target, body })
    await body.drain(limits.unexpectedBodyBytes)
    return asCoded(response)
  }

  async function operator(request: Request, target: string): Promise<Response> {
    const [{ createOperatorApp }, { actingOf }] = await Promise.all([
      import('../http/operator/app.ts'),
      import('./scheduled.ts'),
    ])
    const pages = createOperatorApp({
      ...wiring,
      ...actingOf(acting),
      sessions: createAdminSessions({
        ledger,
        hashes,
        now,
        programToken: config.operatorToken,
        scannerToken: config.scannerToken,
      }),
      metrics: { text: async () => '' },
      site,
      maxImages: MAX_IMAGES,
      url: config.operatorUrl!,
    })
    const body = readBody(request, limits, () => {})
    const response = await pages.fetch(asSent(request), { peer: '', target, body })
    await body.drain(limits.unexpectedBodyBytes)
    return asCoded(response)
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname, search, origin } = new URL(request.url)
    const target = request.url.slice(origin.length).replace(/#.*$/, '')
    const peer = request.headers.get('CF-Connecting-IP')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    await lookUpSettings()
    // A host of its own: nothing of it is on the one that visitors see.
    if (config.operatorUrl !== null && origin === config.operatorUrl) return operator(request, target)
    // Without it all clients would share one day's quota.
    if (peer === null && !isRead) {
      return unavailable(baseUrl, 'Cloudflare did not say which address this request is from.')
    }
    if (takesUploads(pathname)) return upload(request, { path: pathname, query: search.slice(1) }, peer ?? '')
    return other(request, target, peer ?? '')
  }

  return {
    uploadQueue,
    async scheduled(context) {
      const { runScheduled } = await import('./scheduled.ts')
      await settings.refresh()
      await runScheduled({
        ...acting,
        notifiers: given.notifiers,
        link: config.operatorUrl,
        purge: () => purging.round(context),
      })
      await background.quiet()
    },
    async fetch(request, context) {
      const work = answer(request)
      // If a client resets its connection nothing ends by itself: no catch, no finally.
      const behind = work.then(
        async () => {
          if (purging.isDue()) await purging.round(context)
          await background.quiet()
        },
        () => {},
      )
      context.waitUntil(behind)
      return work
    },
  }
}
