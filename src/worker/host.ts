/** Wires up the service in one isolate and dispatches requests to it. */
import { withDeadline } from '../async.ts'
import { UNPURGED } from '../cdn/workers-cache.ts'
import type { Config } from '../config.ts'
import { Refusal } from '../errors.ts'
import type { createApp } from '../http/app.ts'
import type { AppParts, Site } from '../http/context.ts'
import { trustedProxies } from '../http/headers/client-address.ts'
import { createOrigins } from '../http/headers/cross-site.ts'
import type { Log } from '../http/log.ts'
import { CONDITION_HEADERS } from '../http/routes/image-answers.ts'
import { createRaw, isRawTarget } from '../http/routes/raw.ts'
import { announcedBytes, createUpload, isUploadPath } from '../http/routes/upload.ts'
import type { Notifier } from '../notify/notifier.ts'
import { createAdminSessions } from '../service/admin-sessions.ts'
import { newRateState } from '../service/challenge/upload-rate.ts'
import type { ExpiryClock } from '../service/expiry-clock.ts'
import { createDerive } from '../service/images/identities.ts'
import type { Evidence } from '../service/moderation/evidence.ts'
import type { PartialDeliveries } from '../service/moderation/notices.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { ObjectStore } from '../stores/object-store.ts'
import { siteFactsOf } from '../web/pages/site-facts.ts'
import { lifetimeRules } from '../wiring/settings.ts'
import { warning, wireSettings, wireUploads } from '../wiring/uploads.ts'
import type { WorkerAssets } from './assets.ts'
import { createBackground } from './background.ts'
import { readBody } from './body.ts'
import { headerOf, preserveEncoding, responseOf, unavailable, withClientEncoding } from './exchange.ts'
import { workerHashes as hashes } from './hashes.ts'
import { LIMITS, type Limits } from './limits.ts'
import { createPurging, type Execution } from './purging.ts'
import { createUploadQueue, type IsolateUploadQueue } from './upload-queue.ts'

export interface Host {
  fetch(request: Request, context: Execution): Promise<Response>
  /** Called by the cron trigger every minute. */
  scheduled(context: Execution): Promise<void>
  readonly uploadQueue: IsolateUploadQueue
}

/** How long settings are cached: changes by the operator take effect within this time, see also below. Unit: milliseconds. */
const SETTINGS_TTL_MS = 1000

/** Up to this age, a read does not wait for newer settings, and only the reads after it see them. Unit: milliseconds. */
const MAX_STALE_MS = 60_000

/** How long requests wait for newer settings. Unit: milliseconds. */
const SETTINGS_DEADLINE_MS = 1500

/** How long a successful readiness check is cached: `/readyz` is public, and every check costs money. Unit: milliseconds. */
const READY_TTL_MS = 2000

/** Images per operator request. Hiding one takes ten subrequests, and a request may make a thousand. */
const MAX_IMAGES = 60

export const NOT_STARTED = 'The service could not start. Please try again in a moment.'

const NO_METRICS = { upload() {}, removalByKey() {}, report() {} }

export function createHost(options: {
  config: Config & { baseUrl: string }
  objects: ObjectStore
  ledger: Ledger
  /** Called before the first use of the ledger. */
  checkMigrations: () => Promise<void>
  notifiers: Notifier[]
  /** Called for every request and trigger of the operator. `null`: no evidence is kept. */
  evidence: () => Evidence | null
  assets: WorkerAssets
  log: Log
  limits?: Partial<Limits>
}): Host {
  const { config, objects, evidence, assets, log } = options
  const { baseUrl, maxUploadBytes } = config
  const limits = { ...LIMITS, ...options.limits }
  const now = Date.now
  // Cloudflare's clock is accurate.
  const expiryClock: ExpiryClock = { latest: now, earliest: now }
  const background = createBackground()
  const ledger = background.tracked(options.ledger)
  const uploadQueue = createUploadQueue(limits, config.uploadsAtOnce)
  const purging = createPurging({ config, ledger, now, log })
  const { cdn, purges } = purging
  const settings = wireSettings({ config, ledger, now, log })
  let settingsReadAt = 0
  let settingsTriedAt = 0
  let settingsFailedAt = 0
  let readyAt = 0
  /** Outlives the triggers, each of which starts anew. */
  const partial: PartialDeliveries = new Map()

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
  const moderationParts = () => ({ ...wiring, images, scanner, rules, evidence: evidence() })
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
        const at = Date.now()
        if (at - readyAt < READY_TTL_MS) return {}
        const [storeCheck, ledgerCheck] = await Promise.allSettled([objects.check(), ledger.check()])
        if (storeCheck.status === 'fulfilled' && ledgerCheck.status === 'fulfilled') readyAt = at
        return {
          ...(storeCheck.status === 'rejected' && { store: 'unavailable' }),
          ...(ledgerCheck.status === 'rejected' && { ledger: 'unavailable' }),
        }
      },
      purges: purges.pending,
    },
    metrics,
    log,
  }
  const raw = createRaw({ images, cdn: cdn ?? UNPURGED, baseUrl, site, log, isPrivate, expiryClock })
  /** Loaded on first use, like the admin server and the scheduled jobs: image requests and uploads start faster without it. */
  let app: ReturnType<typeof createApp> | undefined

  /** Hides range headers from the handler if Workers Cache is used: the cache stores whole responses and serves ranges itself. */
  function rawHeaderOf(request: Request): (name: string) => string | undefined {
    const header = headerOf(request)
    return cdn === null
      ? header
      : (name) => (name === 'range' || name === 'if-range' ? undefined : header(name))
  }

  /** Without settings, the defaults from the configuration could show private images and accept uploads that are paused. */
  async function readFirstSettings(): Promise<void> {
    await Promise.all([options.checkMigrations(), settings.refresh()])
    settingsReadAt = Date.now()
  }

  /** Refreshes the settings when stale, and falls back to the previous ones. Throws if they were never read. */
  async function refreshSettings(context: Execution, mayBeStale: boolean): Promise<void> {
    const at = Date.now()
    const isRecent = (time: number) => at - time < SETTINGS_TTL_MS
    if (settingsReadAt === 0) return readFirstSettings()
    if (isRecent(settingsReadAt) || isRecent(settingsFailedAt)) return
    const mayWait = mayBeStale && at - settingsReadAt < MAX_STALE_MS
    // Concurrent requests that may use the previous settings do so.
    if (mayWait && isRecent(settingsTriedAt)) return
    settingsTriedAt = at
    const refreshed = withDeadline(
      settings.refresh(),
      SETTINGS_DEADLINE_MS,
      () => new Error('D1 is too slow'),
    ).then(
      () => {
        settingsReadAt = at
      },
      (error) => {
        settingsFailedAt = Date.now()
        warning(log, 'failed to refresh settings')(error)
      },
    )
    if (mayWait) context.waitUntil(refreshed)
    else await refreshed
  }

  /**
   * Each upload gets its own service instances: concurrent requests may share plain values, but never a promise. `fault`: why
   * there are no settings, or `null`.
   */
  async function upload(
    request: Request,
    { path, query }: { path: string; query: string },
    peer: string,
    context: Execution,
    fault: unknown,
  ): Promise<Response> {
    const header = headerOf(request)
    const queue = uploadQueue.queueFor(Math.min(announcedBytes(header) ?? maxUploadBytes, maxUploadBytes))
    const body = readBody(request, limits, queue.touch)
    const [quota, capacity, challenges] = [uploads.quota(), uploads.capacity(), uploads.challenges()]
    const handleUpload = createUpload({
      ...parts,
      uploadsPaused() {
        if (fault === null) return parts.uploadsPaused()
        throw new Refusal('unavailable', NOT_STARTED, { cause: fault })
      },
      images: uploads.images(),
      quota,
      capacity,
      challenges,
      uploadQueue: queue,
    })
    const answer = await handleUpload({
      method: request.method,
      path,
      query,
      peer,
      header,
      body,
      onDisconnect(listener) {
        request.signal.addEventListener('abort', listener)
        return () => request.signal.removeEventListener('abort', listener)
      },
      requestId: crypto.randomUUID(),
    })
    await body.drain(limits.drainBytes)
    const settled = Promise.allSettled([quota, capacity, challenges].map((part) => part.stop()))
    // A stored image counts from its reservation on. A refused upload gives its reservation back before the client tries again.
    if (answer.status === 201) context.waitUntil(settled)
    else await settled
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
    const response = await app.fetch(withClientEncoding(request), { peer, target, body })
    await body.drain(limits.unexpectedBodyBytes)
    return preserveEncoding(response)
  }

  async function operator(request: Request, target: string): Promise<Response> {
    const [{ createOperatorApp }, { moderationOf }] = await Promise.all([
      import('../http/operator/app.ts'),
      import('./scheduled.ts'),
    ])
    const pages = createOperatorApp({
      ...wiring,
      ...moderationOf(moderationParts()),
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
      command: `npm run operator -- --server ${config.operatorUrl}`,
      url: config.operatorUrl!,
    })
    const body = readBody(request, limits, () => {})
    const response = await pages.fetch(withClientEncoding(request), { peer: '', target, body })
    await body.drain(limits.unexpectedBodyBytes)
    return preserveEncoding(response)
  }

  async function answer(request: Request, context: Execution): Promise<Response> {
    const { pathname, search, origin } = new URL(request.url)
    const target = request.url.slice(origin.length).replace(/#.*$/, '')
    const peer = request.headers.get('CF-Connecting-IP')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const isOperator = config.operatorUrl !== null && origin === config.operatorUrl
    // Responses to uploads have rate limit headers even then.
    const fault = await refreshSettings(context, isRead && !isOperator).then(
      () => null,
      (error: unknown) => {
        if (isOperator || !isUploadPath(pathname)) throw error
        return error
      },
    )
    // The admin server has its own hostname: the public one never serves any part of it.
    if (isOperator) return operator(request, target)
    // Without an address, all clients would share one quota.
    if (peer === null && !isRead) {
      return unavailable(baseUrl, 'The address of this request is unknown: Cloudflare did not send it.')
    }
    if (isUploadPath(pathname))
      return upload(request, { path: pathname, query: search.slice(1) }, peer ?? '', context, fault)
    return other(request, target, peer ?? '')
  }

  return {
    uploadQueue,
    async scheduled(context) {
      const { runScheduled } = await import('./scheduled.ts')
      await (settingsReadAt === 0 ? readFirstSettings() : settings.refresh())
      await runScheduled({
        ...moderationParts(),
        notifiers: options.notifiers,
        link: config.operatorUrl,
        partial,
        purge: () => purging.run(context),
      })
      await background.quiet()
    },
    async fetch(request, context) {
      const response = answer(request, context)
      // Through `waitUntil`: when the client resets its connection, the request's code just stops, without catch or finally.
      const followUp = response.then(
        async () => {
          await purging.runFlushed(context)
          await background.quiet()
        },
        () => {},
      )
      context.waitUntil(followUp)
      return response
    },
  }
}
