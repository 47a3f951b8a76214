/** GET /healthz: the process is alive. GET /readyz: it can do its work. */
import type { AppContext, AppParts } from '../context.ts'

export function healthz(c: AppContext): Response {
  return c.json({ status: 'ok' })
}

export async function readyz(c: AppContext, parts: AppParts): Promise<Response> {
  const [faults, purges] = await Promise.all([parts.health.faults(), parts.health.purges().catch(() => null)])
  const isReady = Object.keys(faults).length === 0
  const owed = purges === null ? {} : { purgesOwed: purges.count, oldestPurgeSeconds: purges.oldestSeconds }
  return c.json({ status: isReady ? 'ok' : 'unavailable', ...faults, ...owed }, isReady ? 200 : 503)
}
