/** The service as one isolate has it: stores, rules and pages, and the way of a request into them. */
import type { Cdn } from '../cdn/cdn.ts'
import { type WorkersCache, workersCacheCdn } from '../cdn/workers-cache.ts'
import { type Config, defaultSettings, quotaLimits, scanRules } from '../config.ts'
import { Refusal } from '../errors.ts'
import type { createApp } from '../http/app.ts'
import type { AppParts, Site } from '../http/context.ts'
import { trustedProxies } from '../http/headers/client-address.ts'
import { createOrigins } from '../http/headers/cross-site.ts'
import type { Log } from '../http/log.ts'
import { CONDITION_HEADERS } from '../http/routes/image-answers.ts'
import { createRaw, isRawTarget } from '../http/routes/raw.ts'
import { createUpload, takesUploads } from '../http/routes/upload.ts'
import type { Notifier } from '../notify/notifier.ts'
import { httpScanner } from '../scan/http-scanner.ts'
import { createAdminSessions } from '../service/admin-sessions.ts'
import { createChallenges } from '../service/challenge/challenges.ts'
import { createUploadRate, newRateState } from '../service/challenge/upload-rate.ts'
import type { ExpiryClock } from '../service/expiry-clock.ts'
import { createDerive } from '../service/images/identities.ts'
import { createImages } from '../service/images/images.ts'
import { createPurges, NO_PURGES, type Purges } from '../service/images/purges.ts'
import type { Evidence } from '../service/moderation/evidence.ts'
import { createReports } from '../service/moderation/reports.ts'
import { createScanGate } from '../service/moderation/scan-gate.ts'
import { createCapacity } from '../service/quota/capacity.ts'
import { createQuota } from '../service/quota/quota.ts'
import { createSettings } from '../service/settings.ts'
import type { Ledger } from '../stores/ledger.ts'
import type { ObjectStore } from '../stores/object-store.ts'
import { siteFactsOf } from '../web/pages/site-facts.ts'
import { asCoded, responseOf } from './answer.ts'
import type { WorkerAssets } from './assets.ts'
import { createBackground } from './background.ts'
import { readBody } from './body.ts'
import { workerHashes } from './hashes.ts'
import { LIMITS, type Limits } from './limits.ts'
import { createPlaces, type Places } from './places.ts'

export interface Execution {
  waitUntil(work: Promise<unknown>): void
  /** Where Workers Cache is in front. */
  readonly cache?: WorkersCache
}

export interface Host {
  fetch(request: Request, context: Execution): Promise<Response>
  /** What the cron trigger runs, each minute. */
  scheduled(context: Execution): Promise<void>
  readonly places: Places
}

/** What the operator changes takes effect within this time. Unit: milliseconds. */
const SETTINGS_HOLD_MS = 1000

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
  const { config, objects, assets, log } = given
  const { baseUrl, maxUploadBytes, stripMetadata } = config
  const limits = { ...LIMITS, ...given.limits }
  const now = Date.now
  // Cloudflare's clock is right.
  const expiryClock: ExpiryClock = { latest: now, earliest: now }
  const background = createBackground()
  const ledger = background.tracked(given.ledger)
  const places = createPlaces(limits, config.uploadsAtOnce)
  const settings = createSettings({
    ledger,
    // There is no disk.
    defaults: { ...defaultSettings(config), 'min-free-bytes': 0 },
    now,
    onFailure: (err) => log.warn({ err }, 'settings could not be looked up'),
  })
  let settingsAt = Number.NEGATIVE_INFINITY
  let isPurgeDue = false

  const onPurgeFailure = (err: unknown, ids: string[]) =>
    log.warn({ err, ids }, 'a purge failed and will be tried again')
  const cdnOf = (context?: Execution): Cdn | null =>
    config.cdnUrl === null
      ? null
      : workersCacheCdn(() => {
          if (context?.cache === undefined)
            throw new Error('no Workers Cache is in front: see "cache" in wrangler.jsonc')
          return context.cache
        })
  const cdn = cdnOf()
  const outbox = (context?: Execution) => {
    const own = cdnOf(context)
    return own === null ? NO_PURGES : createPurges({ ledger, cdn: own, now, onFailure: onPurgeFailure })
  }
  const purges: Purges = {
    ...outbox(),
    // Behind the answer, by the request that queued it: its timers would end with it.
    flush() {
      isPurgeDue = cdn !== null
    },
  }

  async function purge(context: Execution): Promise<void> {
    isPurgeDue = false
    // Of this request: timers and promises of another one end with that.
    const once = outbox(context)
    once.start()
    await once.stop()
  }

  const rules = scanRules(config)
  const scanner = config.scannerUrl === null ? null : httpScanner(config.scannerUrl)
  const scans = () => ({
    gate: createScanGate({
      scanner,
      rules,
      ledger,
      now,
      onFailure: (err) => log.warn({ err }, 'the scanner gave no verdict on an upload'),
    }),
    moves: {
      async carryOut(id: string) {
        const { actingOf } = await import('./rounds.ts')
        return actingOf({ objects, ledger, purges, now, log, evidence: given.evidence }).moves.carryOut(id)
      },
    },
  })
  const isPrivate = () => settings.current().images === 'private'
  const images = (own: Ledger) =>
    createImages({
      objects,
      ledger: own,
      purges,
      maxUploadBytes,
      stripMetadata,
      metrics: NO_METRICS,
      hashes: workerHashes,
      now,
      expiryClock,
      isPrivate,
      ...(config.scan !== 'off' && { scans: scans() }),
    })
  const site: Site = {
    facts: siteFactsOf(config, baseUrl, assets.urls),
    asset: assets.asset,
  }
  const quota = () =>
    createQuota(ledger, {
      limits: quotaLimits(config),
      hashes: workerHashes,
      now,
      networkLimit: () => settings.current()['network-uploads'],
    })
  const capacity = () =>
    createCapacity({
      ledger,
      settings,
      now,
      freeBytes: () => null,
      onReached: (cap, isPaused) => log.warn({ cap, isPaused }, 'a cap of the day is reached'),
      onFailure: (err) => log.warn({ err }, 'that a cap was reached could not be written down'),
    })
  const rateState = newRateState()
  const challenges = () =>
    createChallenges({
      ledger,
      settings,
      hashes: workerHashes,
      now,
      rate: createUploadRate({
        ledger,
        now,
        perHour: () => settings.current()['challenge-rate'],
        state: rateState,
        onExceeded: () =>
          log.warn({}, 'more uploads than CHALLENGE_RATE: challenges are on for a quarter of an hour'),
        onFailure: (err) => log.warn({ err }, 'the rate of uploads could not be counted'),
      }),
    })
  const shared = images(ledger)
  const parts: AppParts = {
    baseUrl,
    onionUrl: config.onionUrl,
    maxUploadBytes,
    get uploadsPaused() {
      return settings.current().uploads === 'paused'
    },
    images: shared,
    quota: quota(),
    derive: createDerive(ledger, workerHashes),
    lifetimes: { standard: config.defaultLifetime, most: config.longestLifetime },
    hashes: workerHashes,
    capacity: capacity(),
    line: places.lineFor(0),
    challenges: challenges(),
    origins: createOrigins(baseUrl, config.allowedOrigins),
    trusted: trustedProxies([]),
    site,
    reports: createReports({ objects, ledger, hashes: workerHashes, now, metrics: NO_METRICS }),
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
    metrics: NO_METRICS,
    log,
  }
  const raw = createRaw({ images: shared, cdn, baseUrl, site, log, isPrivate, expiryClock })
  /** Loaded by the first request that needs it, as are the operator's part and the rounds: views and uploads start without. */
  let app: ReturnType<typeof createApp> | undefined

  /** Workers Cache keeps whole answers, and takes parts of them itself. */
  function rawHeaderOf(request: Request): (name: string) => string | undefined {
    const header = headerOf(request)
    return cdn === null
      ? header
      : (name) => (name === 'range' || name === 'if-range' ? undefined : header(name))
  }

  async function lookUpSettings(): Promise<void> {
    if (Date.now() - settingsAt < SETTINGS_HOLD_MS) return
    settingsAt = Date.now()
    await settings.refresh().catch((err) => log.warn({ err }, 'settings could not be looked up'))
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
    const line = places.lineFor(Math.min(announced, maxUploadBytes))
    const body = readBody(request, limits, line.touch)
    const [own, ownCapacity, ownChallenges] = [quota(), capacity(), challenges()]
    const answering = createUpload({
      ...parts,
      // A getter is not spread.
      uploadsPaused: parts.uploadsPaused,
      images: images(ledger),
      quota: own,
      capacity: ownCapacity,
      challenges: ownChallenges,
      line,
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
    await Promise.allSettled([own.stop(), ownCapacity.stop(), ownChallenges.stop()])
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
    const [{ createOperatorApp }, { actingOf, scanningOf }] = await Promise.all([
      import('../http/operator/app.ts'),
      import('./rounds.ts'),
    ])
    const parts = { objects, ledger, purges, now, log, evidence: given.evidence }
    const acting = actingOf(parts)
    const { takedown, decisions } = acting
    const pages = createOperatorApp({
      sessions: createAdminSessions({
        ledger,
        hashes: workerHashes,
        now,
        programToken: config.operatorToken,
        scannerToken: config.scannerToken,
      }),
      takedown,
      decisions,
      scanning: scanningOf({ ...parts, images: shared, scanner, rules }, acting),
      settings,
      ledger,
      objects,
      now,
      metrics: { text: async () => '' },
      site,
      log,
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
    if (peer === null && !isRead) return unknownClient()
    if (takesUploads(pathname)) return upload(request, { path: pathname, query: search.slice(1) }, peer ?? '')
    return other(request, target, peer ?? '')
  }

  return {
    places,
    async scheduled(context) {
      const { runRounds } = await import('./rounds.ts')
      await settings.refresh()
      await runRounds({
        objects,
        ledger,
        evidence: given.evidence,
        images: shared,
        scanner,
        rules,
        expiryClock,
        purges,
        settings,
        now,
        log,
        notifiers: given.notifiers,
        link: config.operatorUrl,
        purge: () => purge(context),
      })
      await background.quiet()
    },
    async fetch(request, context) {
      const work = answer(request)
      // If a client resets its connection nothing ends by itself: no catch, no finally.
      const behind = work.then(
        async () => {
          if (isPurgeDue) await purge(context)
          await background.quiet()
        },
        () => {},
      )
      context.waitUntil(behind)
      return work
    },
  }
}

/**
 * Cloudflare puts codings of its own into `Accept-Encoding`, and says elsewhere which the client takes. Without the body,
 * which is read elsewhere.
 */
function asSent(request: Request): Request {
  const { cf } = request as Request & { cf?: { clientAcceptEncoding?: string } }
  const headers = new Headers(request.headers)
  headers.set('Accept-Encoding', cf?.clientAcceptEncoding ?? '')
  return new Request(request.url, { method: request.method, headers })
}

function headerOf(request: Request): (name: string) => string | undefined {
  return (name) => request.headers.get(name) ?? undefined
}

function unknownClient(): Response {
  const refusal = new Refusal('unavailable', 'Cloudflare did not say which address this request is from.')
  return Response.json(
    {
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      detail: refusal.message,
      error: refusal.code,
    },
    { status: 503, headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' } },
  )
}
