/** What a bucket must be like, found out at start; and whether it can be written now. */
import { StoreFull, StoreUnavailable } from '../object-store.ts'
import { errorOf, textOf } from './answer.ts'
import type { RetryPolicy, S3Client } from './client.ts'
import { listKeys, removeObject } from './objects.ts'

/** Throws an `Error` that says what to change if `bucket` can't keep the store's promises. */
export async function assertFit(client: S3Client, bucket: string, prefix: string): Promise<void> {
  await assertNoVersions(client, bucket)
  await assertConditions(client, bucket, prefix)
  // Without permission to list, Amazon answers 403 where nothing is, and not 404.
  const query = { 'list-type': '2', 'max-keys': '1', prefix }
  const doing = 'LIST one image'
  const { failure } = await client.ask({ method: 'GET', query, doing })
  if (failure !== null) throw errorOf(failure, doing)
}

async function assertNoVersions(client: S3Client, bucket: string): Promise<void> {
  const doing = 'GET the versioning of the bucket'
  const { value, failure } = await client.ask({ method: 'GET', query: { versioning: '' }, doing })
  if (failure !== null) {
    // A store that knows no versions has nothing to refuse.
    if (failure.status === 501 || failure.code === 'NotImplemented') return
    const cause = errorOf(failure, doing)
    if (failure.code === 'NoSuchBucket') {
      throw new Error(`the bucket "${bucket}" does not exist: create it, without versioning`, { cause })
    }
    if (failure.code === 'AccessDenied') {
      throw new Error(
        `can't tell whether the bucket "${bucket}" keeps old versions: allow s3:GetBucketVersioning`,
        { cause },
      )
    }
    throw cause
  }
  const status = textOf(value!, 'Status')
  if (status === null) return
  throw new Error(
    `the bucket "${bucket}" has versioning ${status === 'Enabled' ? 'on' : 'suspended'}: ` +
      'a deleted image would live on as an old version. Use a bucket that never had versioning',
  )
}

/** Some stores accept conditions and ignore them: then two images could take one id. */
async function assertConditions(client: S3Client, bucket: string, prefix: string): Promise<void> {
  const probe = createProbe(client, prefix)
  try {
    const created = await probe.put({ 'if-none-match': '*' })
    // 412 to a repeated first put: the attempt whose reply was lost made the probe.
    if (created.failure !== null && created.failure.status !== 412)
      throw errorOf(created.failure, 'PUT a probe')
    const conditions: Record<string, string>[] = [
      { 'if-none-match': '*' },
      { 'if-match': '"00000000000000000000000000000000"' },
    ]
    for (const condition of conditions) {
      const { failure } = await probe.put(condition)
      if (failure?.status === 412) continue
      throw new Error(
        `the object store of "${bucket}" does not honour ${Object.keys(condition)[0]} on a put: ` +
          'Pinhole needs conditional writes, as Amazon S3, Ceph RGW and Cloudflare R2 have them',
        { cause: failure === null ? undefined : errorOf(failure, 'PUT a probe') },
      )
    }
    await probe.remove()
  } catch (error) {
    await probe.remove().catch(() => {})
    // A full or busy store must still serve and delete.
    if (!(error instanceof StoreFull || error instanceof StoreUnavailable)) throw error
  }
}

const PROBE = '.probe-'

/** Not an id, so no listing shows it. Each has a name of its own: some stores take one put a second to a key. */
function createProbe(client: S3Client, prefix: string, retryPolicy?: Partial<RetryPolicy>) {
  const key = `${prefix}${PROBE}${crypto.randomUUID()}`
  const body = new TextEncoder().encode('probe')
  return {
    put: (headers: Record<string, string> = {}) =>
      client.ask({ method: 'PUT', key, headers, body, doing: 'PUT a probe' }, retryPolicy),
    remove: () => removeObject(client, key, retryPolicy),
  }
}

/** The process that made a probe of this age has died. */
const LEFT_BEHIND_MS = 60_000

/** Removes probes of processes that were killed before they could. */
export async function sweepProbes(client: S3Client, prefix: string): Promise<void> {
  for await (const { key, modifiedAt } of listKeys(client, prefix + PROBE))
    if (Date.now() - modifiedAt > LEFT_BEHIND_MS) await removeObject(client, key)
}

/** How long a success is reused: anybody may ask `/readyz`, and each put costs. Unit: milliseconds. */
const SUCCESS_HOLDS_MS = 2000

/** A readiness probe does not wait long. */
const QUICK_RETRIES: Partial<RetryPolicy> = { attempts: 2, idleMs: 3000 }

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
