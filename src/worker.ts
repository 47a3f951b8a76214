/**
 * Entry point for Cloudflare Workers, with images in R2 and the ledger in D1. The only file that uses the bindings, which
 * deploy/cloudflare configures.
 */
import { createEvidence } from './service/moderation/evidence.ts'
import { sealerFor } from './service/moderation/sealing.ts'
import { checkMigrations, openD1Ledger } from './stores/d1/ledger.ts'
import { r2Salts } from './stores/r2/salts.ts'
import { openR2Files, openR2Store } from './stores/r2/store.ts'
import { openAssets } from './worker/assets.ts'
import { configOf, type Env } from './worker/env.ts'
import { unavailable } from './worker/exchange.ts'
import { createHost, type Host, NOT_STARTED } from './worker/host.ts'
import { createLog } from './worker/log.ts'
import type { Execution } from './worker/purging.ts'

/** The host of this isolate, once it has started. After a failed start, the next request tries again. */
let host: Host | undefined

async function start(env: Env): Promise<Host> {
  const config = configOf(env)
  const log = createLog(config.logLevel)
  const { evidenceKey } = config
  const [assets, seal, notifiers] = await Promise.all([
    openAssets(env.ASSETS),
    evidenceKey === null ? null : sealerFor(evidenceKey),
    notifiersOf(config.notify),
  ])
  const objects = openR2Store({ bucket: env.IMAGES })
  const ledger = openD1Ledger({ database: env.LEDGER, salts: r2Salts(env.PRIVATE) })
  const files = openR2Files(env.IMAGES, '.evidence/')

  // Concurrent first requests each start a host: a request must not await another request's promise.
  host ??= createHost({
    config,
    objects,
    ledger,
    checkMigrations: () => checkMigrations(env.LEDGER),
    evidence: () => seal && createEvidence({ seal, files, objects, ledger, now: Date.now }),
    notifiers,
    assets,
    log,
  })
  return host
}

/** Throws when an address is invalid. Loads the notifiers only if configured, so that an isolate starts with less code. */
async function notifiersOf(addresses: string[]) {
  if (addresses.length === 0) return []
  const { openNotifiers } = await import('./worker/notifiers.ts')
  return openNotifiers(addresses)
}

export default {
  async fetch(request: Request, env: Env, context: Execution): Promise<Response> {
    try {
      return await (host ?? (await start(env))).fetch(request, context)
    } catch (error) {
      const requestId = crypto.randomUUID()
      console.error(requestId, error)
      return unavailable(`${env.BASE_URL}`, NOT_STARTED, requestId)
    }
  },

  async scheduled(_event: unknown, env: Env, context: Execution): Promise<void> {
    await (host ?? (await start(env))).scheduled(context)
  },
}
