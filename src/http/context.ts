/** What every handler has at hand. */
import type { Context } from 'hono'
import type { Challenges } from '../service/challenge/challenges.ts'
import type { Hashes } from '../service/hashes.ts'
import type { LifetimeRules } from '../service/images/expiry.ts'
import type { Derive } from '../service/images/identities.ts'
import type { Images } from '../service/images/images.ts'
import type { Metrics } from '../service/metrics.ts'
import type { Reports } from '../service/moderation/reports.ts'
import type { Capacity } from '../service/quota/capacity.ts'
import type { Quota } from '../service/quota/quota.ts'
import type { UploadQueue } from '../service/quota/upload-queue.ts'
import type { Asset } from '../web/assets.ts'
import type { SiteFacts } from '../web/pages/page.ts'
import type { TrustedProxies } from './headers/client-address.ts'
import type { Origins } from './headers/cross-site.ts'
import type { Log } from './log.ts'

/** A body as the host reads it, once: with a least rate, and small chunks joined. */
export interface RequestBody extends AsyncIterable<Uint8Array> {
  /** So far. Unit: bytes. */
  received(): number
}

/** What a host hands over with a request. */
export interface HostBindings {
  /** The address of the socket's peer. */
  peer: string
  /** Path and query as sent, before any normalisation. */
  target: string
  /** The request's own stream is never read. */
  body: RequestBody
}

export interface AppEnv {
  Bindings: HostBindings
  Variables: { requestId: string }
}

export type AppContext = Context<AppEnv>

export interface AppParts {
  baseUrl: string
  /** The same service as an onion service, without a trailing slash. */
  onionUrl: string | null
  maxUploadBytes: number
  /** Changes while the server runs: to be asked for each request. */
  uploadsPaused(): boolean
  images: Images
  derive: Derive
  lifetimes: LifetimeRules
  hashes: Hashes
  quota: Quota
  capacity: Capacity
  uploadQueue: UploadQueue
  challenges: Challenges
  reports: Reports
  origins: Origins
  trusted: TrustedProxies
  site: Site
  health: Health
  metrics: Metrics
  log: Log
}

/** Pages and their files. */
export interface Site {
  facts: SiteFacts
  asset(path: string): Asset | null | Promise<Asset | null>
  /** Replaces the default terms. */
  terms?: string | undefined
}

export interface Health {
  /** What does not work now, by part; an empty object if all is well. Never rejects. */
  faults(): Promise<Record<string, string>>
  /** Purges that caches owe. `null` if no cache is configured. */
  purges(): Promise<{ count: number; oldestSeconds: number } | null>
}
