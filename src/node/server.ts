/** A single server process. */
import cluster from 'node:cluster'
import type { Config } from '../config.ts'
import { createApp } from '../http/app.ts'
import type { AppParts, Site } from '../http/context.ts'
import { trustedProxies } from '../http/headers/client-address.ts'
import { createOrigins } from '../http/headers/cross-site.ts'
import type { Log } from '../http/log.ts'
import { createRaw } from '../http/routes/raw.ts'
import { createUpload } from '../http/routes/upload.ts'
import { onTime } from '../service/clock.ts'
import { createDerive } from '../service/images/identities.ts'
import { createSpool } from '../stores/drafts/spool.ts'
import { lifetimeRules } from '../wiring/settings.ts'
import { openAdminServer } from './admin/server.ts'
import { loadSite } from './assets/load.ts'
import { nodeHashes } from './hashes.ts'
import { healthOf } from './health.ts'
import { openHttpServer } from './http/http-server.ts'
import { LIMITS, type Limits } from './http/limits.ts'
import { createListener, type Routes } from './http/listener.ts'
import { openDescriptorMonitor, openDiskMonitor, openMemoryMonitor } from './monitors.ts'
import { draftFolder, openStores, type Stores } from './open/stores.ts'
import { openServices, type Services } from './services.ts'

export interface RunningServer {
  baseUrl: string
  port: number
  /** Graceful shutdown: refuses new requests, finishes those in flight, closes the stores. */
  stop(): Promise<void>
}

/** `now`: this machine's clock, epoch milliseconds. Throws an `Error` that explains why the server can't start. */
export async function startServer(
  config: Config,
  log: Log,
  { now = Date.now, ...options }: { limits?: Partial<Limits>; now?: () => number } = {},
): Promise<RunningServer> {
  const limits = { ...LIMITS, ...options.limits }
  const [stores, siteAt] = await Promise.all([
    openStores(config, log, { as: 'server', now }),
    loadSite(config, log),
  ])
  // With several workers, the supervisor removes the drafts of dead ones.
  if (!cluster.isWorker) await createSpool(draftFolder(config)).sweep()
  // Images may have a disk of their own, and their drafts are on it.
  const disk = await openDiskMonitor(config.dataDir, draftFolder(config))
  const services = await openServices({ config, limits, stores, disk, log, localNow: now })
  const { uploadQueue, metrics } = services

  const http = await openHttpServer(config, limits, trustedProxies(config.trustedProxies))
  const site = siteAt(http.baseUrl)
  const routes = createRoutes({ config, stores, services, site, baseUrl: http.baseUrl, log })
  http.serve(createListener(routes, http, log), metrics)
  const admin = await openAdminServer(config, limits, {
    ...stores,
    ...services,
    now: stores.clock.now,
    site,
    log,
  })

  const monitors = [
    disk,
    openDescriptorMonitor(log, metrics.exhausted),
    openMemoryMonitor(() => uploadQueue.counts().reading + uploadQueue.counts().waiting === 0),
  ]
  services.start()
  return {
    baseUrl: http.baseUrl,
    port: http.port,
    async stop() {
      await http.stop()
      await Promise.all([...monitors, admin].map((part) => part?.stop()))
      await services.stop()
      await stores.close()
    },
  }
}

/** The three kinds of routes: image bytes, uploads, and everything else. */
function createRoutes(parts: {
  config: Config
  stores: Stores
  services: Services
  site: Site
  baseUrl: string
  log: Log
}): Routes {
  const { config, stores, services, site, baseUrl, log } = parts
  const { filesystem, ledger, cdn, clock } = stores
  const { images, isPrivate, settings, expiryClock } = services
  const memory = filesystem === null ? {} : { hot: filesystem.hot }
  const appParts: AppParts = {
    ...services,
    baseUrl,
    onionUrl: config.onionUrl,
    maxUploadBytes: config.maxUploadBytes,
    uploadsPaused: () => settings.current().uploads === 'paused',
    quota: onTime(services.quota, clock),
    derive: createDerive(ledger, nodeHashes),
    lifetimes: lifetimeRules(config),
    hashes: nodeHashes,
    origins: createOrigins(baseUrl, config.allowedOrigins),
    trusted: trustedProxies(config.trustedProxies),
    site,
    health: healthOf(stores, log),
    log,
  }
  return {
    raw: createRaw({ images, ...memory, cdn, baseUrl, site, log, isPrivate, expiryClock }),
    upload: createUpload(appParts),
    app: createApp(appParts),
  }
}
