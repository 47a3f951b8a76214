/** GET /healthz: the process is alive. GET /readyz: it can do its work. GET /metrics: what it owes. */
import { refuseFault } from '../../service/faults.ts'
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

/** As Prometheus reads it, version 0.0.4 of its text format. Nothing is owed where no cache is configured. */
export async function metrics(c: AppContext, parts: AppParts): Promise<Response> {
  const owed = await parts.health.purges().catch(refuseFault)
  const gauges =
    owed === null
      ? []
      : [
          gauge('pinhole_purges_owed', 'Images that caches are still to forget.', owed.count),
          gauge(
            'pinhole_oldest_purge_seconds',
            'For how long the oldest of them is owed.',
            owed.oldestSeconds,
          ),
        ]
  return c.body(gauges.join(''), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' })
}

function gauge(name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`
}
