/** Finds out whether images could be written and removed now, by an object that is neither. */
import { errorOf, isAbsent } from './answer.ts'
import type { RetryPolicy, S3Answer, S3Client } from './client.ts'
import { listKeys } from './list.ts'

/** For so long a success is taken for the next: anybody may ask `/readyz`, and each put costs. Unit: milliseconds. */
const SUCCESS_HOLDS_MS = 2000

/** Whoever asks whether we are ready does not wait long. */
const QUICK_RETRIES: Partial<RetryPolicy> = { attempts: 2, idleMs: 3000 }

const PROBE = '.probe-'

/** One of another server may be under way. */
const LEFT_BEHIND_MS = 60_000

export interface Probe {
  put(condition?: Record<string, string>): Promise<S3Answer<string>>
  /** Throws unless it is gone. */
  remove(): Promise<void>
}

/** Not an id, so no listing shows it. Each has a name of its own: some stores take one put a second to a key. */
export function createProbe(client: S3Client, prefix: string, retryPolicy?: Partial<RetryPolicy>): Probe {
  const key = `${prefix}${PROBE}${crypto.randomUUID()}`
  return {
    put: (headers = {}) => {
      const body = new TextEncoder().encode('probe')
      return client.ask({ method: 'PUT', key, headers, body, doing: 'PUT a probe' }, retryPolicy)
    },
    async remove() {
      const doing = 'DELETE a probe'
      const { failure } = await client.ask({ method: 'DELETE', key, doing }, retryPolicy)
      if (failure !== null && !isAbsent(failure)) throw errorOf(failure, doing)
    },
  }
}

/** Removes the probes of processes that were killed before they could. */
export async function sweepProbes(client: S3Client, prefix: string): Promise<void> {
  for await (const { key, modifiedAt } of listKeys(client, prefix + PROBE, 1000, '')) {
    if (Date.now() - modifiedAt > LEFT_BEHIND_MS)
      await client.ask({ method: 'DELETE', key, doing: 'DELETE a probe' })
  }
}

/** Resolves if a probe could be written and removed. Callers at one time share one probe. */
export function createCheck(client: S3Client, prefix: string): () => Promise<void> {
  let underWay: Promise<void> | undefined
  let succeededAt = -Infinity

  async function check(): Promise<void> {
    const probe = createProbe(client, prefix, QUICK_RETRIES)
    const { failure } = await probe.put()
    if (failure !== null) throw errorOf(failure, 'PUT a probe')
    await probe.remove()
    succeededAt = performance.now()
  }

  return async () => {
    if (performance.now() - succeededAt < SUCCESS_HOLDS_MS) return
    underWay ??= check().finally(() => {
      underWay = undefined
    })
    await underWay
  }
}
