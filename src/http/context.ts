/** Types and services that every HTTP handler receives. */
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

/** A single-use request body. The host enforces a minimum transfer rate and coalesces small chunks. */
export interface RequestBody extends AsyncIterable<Uint8Array> {
  /** Bytes received so far. */
  received(): number
}

/** Per-request values that the host passes in. */
export interface HostBindings {
  /** The address of the socket's peer. */
  peer: string
  /** Path and query as sent, before any normalisation. */
  target: string
  /** Read this one; the stream of the `Request` itself is never read. */
  body: RequestBody
}

export interface AppEnv {
  Bindings: HostBindings
  Variables: { requestId: string }
}

export type AppContext = Context<AppEnv>

export interface AppParts {
  baseUrl: string
  /** Base URL of the same service as a Tor onion service, without a trailing slash. */
  onionUrl: string | null
  maxUploadBytes: number
  /** Can change while the server runs: call it for each request. */
  uploadsPaused(): boolean
  images: Images
  derive: Derive
  lifetimes: LifetimeRules
  hashes: Hashes
  quota: Quota
  capacity: Capacity
  uploadQueue: Pick<UploadQueue, 'enter'>
  challenges: Challenges
  reports: Reports
  origins: Origins
  trusted: TrustedProxies
  site: Site
  health: Health
  metrics: Metrics
  log: Log
}

/** Page content and static assets. */
export interface Site {
  facts: SiteFacts
  asset(path: string): Asset | null | Promise<Asset | null>
  /** Replaces the default terms of use. */
  terms?: string | undefined
}

export interface Health {
  /** Current failures by component; empty when healthy. Never rejects. */
  faults(): Promise<Record<string, string>>
  /** Pending cache purges. `null` when no cache is configured. */
  purges(): Promise<{ count: number; oldestSeconds: number } | null>
}
