/** One process that serves. */
import cluster from 'node:cluster'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Config } from '../config.ts'
import type { AppParts, Site } from '../http/context.ts'
import { type TrustedProxies, trustedProxies } from '../http/headers/client-address.ts'
import { createOrigins } from '../http/headers/cross-site.ts'
import type { Log } from '../http/log.ts'
import { createRaw } from '../http/routes/raw.ts'
import { onTime } from '../service/clock.ts'
import { createForgetting } from '../service/forgetting.ts'
import { createDerive } from '../service/images/identities.ts'
import { createImages } from '../service/images/images.ts'
import { createReports } from '../service/moderation/reports.ts'
import { type Capacity, createCapacity } from '../service/quota/capacity.ts'
import { createLine, type Line } from '../service/quota/line.ts'
import { createQuota, type Quota } from '../service/quota/quota.ts'
import { createUploaderTagger } from '../service/quota/uploader-tags.ts'
import { createSettings, type Settings } from '../service/settings.ts'
import { createSpool } from '../stores/drafts/spool.ts'
import { pickLocale, pickMessages } from '../web/pages.ts'
import { openAdmin } from './admin/admin.ts'
import { loadAssets } from './assets/load.ts'
import { createDescriptorMonitor } from './descriptors.ts'
import { openDiskMonitor } from './disk-space.ts'
import { nodeHashes } from './hashes.ts'
import { healthOf } from './health.ts'
import { createAcceptor } from './http/accept.ts'
import type { Connections } from './http/connections.ts'
import { shutDown } from './http/graceful-shutdown.ts'
import { createIdleConnections } from './http/idle-connections.ts'
import { LIMITS, type Limits } from './http/limits.ts'
import { createListener } from './http/listener.ts'
import { createPendingConnections } from './http/pending-connections.ts'
import type { Pipelining } from './http/pipelining.ts'
import { refuseUnreadable, refuseWaiting, statusOf } from './http/unreadable.ts'
import { createMetrics, type ProcessMetrics } from './metrics/metrics.ts'
import { defaultSettings } from './open/default-settings.ts'
import { noticesOf, openNotifiers } from './open/notifiers.ts'
import { lineLimits, quotaLimits } from './open/quota-limits.ts'
import { draftFolder, openStores, type Stores } from './open/stores.ts'
import { createMemoryMonitor } from './rest.ts'
import { HAS_REUSE_PORT } from './workers.ts'

export interface RunningServer {
  baseUrl: string
  port: number
  /** Takes no more requests, finishes those under way, closes the stores. */
  stop(): Promise<void>
}

export async function startServer(
  config: Config,
  log: Log,
  options: { limits?: Partial<Limits>; now?: () => number } = {},
): Promise<RunningServer> {
  const limits = { ...LIMITS, ...options.limits }
  const notifiers = await openNotifiers(config.notify)
  const [stores, assets, terms] = await Promise.all([
    openStores(config, log, { as: 'server', ...(options.now ? { now: options.now } : {}) }),
    loadAssets((message) => log.warn({}, message)),
    config.termsFile === null ? undefined : readFile(config.termsFile, 'utf8'),
  ])
  // Beside other workers their supervisor removes what dead ones left.
  if (!cluster.isWorker) await createSpool(draftFolder(config)).sweep()
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    // Looked after by `createIdleConnections`.
    keepAliveTimeout: 0,
    // Checked here, for an answer with the headers that all answers have.
    requireHostHeader: false,
    // A GET has no body to wait for.
    optimizeEmptyRequests: true,
  })
  // A client may end its side after a whole request, and read the answer. Not in Node's types.
  Object.assign(server, { httpAllowHalfOpen: true })
  const idle = createIdleConnections(server, limits)
  const trusted = trustedProxies(config.trustedProxies)
  const accepting = createAcceptor(server, {
    mostOfAddress: config.connectionsPerAddress,
    trusted,
    limits,
    refuse: (socket) => refuseWaiting(baseUrl, socket),
  })
  const settings = createSettings({
    ledger: stores.ledger,
    defaults: defaultSettings(config),
    now: options.now ?? Date.now,
    onFailure: (err) => log.warn({ err }, 'settings could not be looked up'),
  })
  await settings.refresh()
  const disk = await openDiskMonitor(config.dataDir)
  const capacity = createCapacity({
    ledger: stores.ledger,
    settings,
    now: stores.clock.now,
    freeBytes: disk.freeBytes,
    onReached: (cap, isPaused) => log.warn({ cap, isPaused }, 'a cap of the day is reached'),
    onFailure: (err) => log.warn({ err }, 'that a cap was reached could not be written down'),
  })
  const tagger = config.uploaderLinks
    ? createUploaderTagger({ ledger: stores.ledger, hashes: nodeHashes, now: stores.clock.now })
    : null
  const forgetting = createForgetting({
    ledger: stores.ledger,
    now: stores.clock.now,
    onFailure: (err) => log.warn({ err }, 'what is private of days that are over could not be forgotten'),
  })
  const quota = createQuota(stores.ledger, {
    limits: quotaLimits(config),
    hashes: nodeHashes,
    now: stores.clock.now,
    networkLimit: () => settings.current()['network-uploads'],
    tagger,
  })
  const notices = noticesOf(config, notifiers, stores, log)
  await listen(server, config)
  const { port } = server.address() as AddressInfo
  const baseUrl = config.baseUrl ?? `http://localhost:${port}`
  const site: Site = {
    context(acceptLanguage) {
      const messages = pickMessages(acceptLanguage)
      return {
        baseUrl,
        maxUploadBytes: config.maxUploadBytes,
        uploadsPerDay: config.uploadsPerDay,
        stripsMetadata: config.stripMetadata,
        convertsHeic: config.convertsHeic,
        messages,
        locale: pickLocale(acceptLanguage, messages.lang),
        operator: {
          name: config.operatorName ?? undefined,
          contact: config.operatorContact ?? undefined,
        },
        assets: assets.urls,
      }
    },
    asset: (path) => assets.assets.get(path) ?? null,
    terms,
  }
  const line = createLine(lineLimits(config, limits))
  const metrics = createMetrics({ ...stores, config, settings, notices, now: stores.clock.now })
  const { listener: answer, isAnswering } = listenerOf({
    config,
    log,
    limits,
    connections: { pending: createPendingConnections(server), idle, limits },
    trusted,
    stores,
    metrics,
    site,
    baseUrl,
    settings,
    capacity,
    line,
    quota,
  })
  const descriptors = createDescriptorMonitor(log, metrics.exhausted)
  const memory = createMemoryMonitor(() => line.counts().reading + line.counts().waiting === 0)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isOver = !socket.writable || error.code === 'ECONNRESET'
    // In the middle of an answer another one would be taken for its bytes.
    if (isOver || isAnswering(socket as Socket)) socket.destroy()
    else refuseUnreadable(baseUrl, statusOf(error), socket)
  })
  const listener = metrics.counted(server, accepting.noting(answer))
  server.on('request', listener)
  server.on('checkContinue', listener)
  const admin = await openAdmin({ config, limits, stores, settings, disk, notices, metrics, site, log })
  stores.purges.start()
  stores.moves.start()
  stores.tombstones.start()
  settings.start()
  forgetting.start()
  admin.start()
  return {
    baseUrl,
    port,
    async stop() {
      const { lingerMs, stopMs: longestMs } = limits
      await shutDown(server, { lingerMs, longestMs, cutWaiting: accepting.stop })
      disk.stop()
      descriptors.stop()
      memory.stop()
      await admin.stop()
      await Promise.all([settings.stop(), capacity.stop(), quota.stop(), forgetting.stop()])
      await stores.close()
    },
  }
}

function listenerOf(given: {
  config: Config
  log: Log
  limits: Limits
  connections: Connections
  trusted: TrustedProxies
  stores: Stores
  metrics: ProcessMetrics
  site: Site
  baseUrl: string
  settings: Settings
  capacity: Capacity
  line: Line
  quota: Quota
}): Pipelining {
  const { config, log, connections, trusted, stores, metrics, site, baseUrl, settings } = given
  const { objects, filesystem, ledger, cdn, clock, purges } = stores
  const { maxUploadBytes, stripMetadata } = config
  const isPrivate = () => settings.current().images === 'private'
  const images = createImages({
    objects,
    ledger,
    purges,
    maxUploadBytes,
    stripMetadata,
    metrics,
    hashes: nodeHashes,
    now: clock.now,
    isPrivate,
  })
  const memory = filesystem === null ? {} : { hot: filesystem.hot }
  const raw = createRaw({ images, ...memory, cdn, baseUrl, log, isPrivate })
  const parts: AppParts = {
    baseUrl,
    maxUploadBytes,
    get uploadsPaused() {
      return settings.current().uploads === 'paused'
    },
    images,
    quota: onTime(given.quota, clock),
    derive: createDerive(ledger, nodeHashes),
    hashes: nodeHashes,
    capacity: given.capacity,
    line: given.line,
    raw,
    origins: createOrigins(baseUrl, config.allowedOrigins),
    trusted,
    site,
    reports: createReports({ objects, ledger, hashes: nodeHashes, now: clock.now, metrics }),
    health: healthOf(stores, log),
    metrics,
    log,
  }
  return createListener(parts, connections)
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`cannot listen on ${config.host}:${config.port}`, { cause })),
    )
    const reusePort = cluster.isWorker && HAS_REUSE_PORT
    server.listen({ port: config.port, host: config.host, backlog: 1024, reusePort }, resolve)
  })
}
