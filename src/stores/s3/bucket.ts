/** Checks at start that a bucket meets Pinhole's requirements, and later whether it is writable. */
import { cacheSuccess } from '../../async.ts'
import type { ImageBucket } from '../bucket/store.ts'
import { StoreFull, StoreUnavailable } from '../object-store.ts'
import type { RetryPolicy, S3Client } from './client.ts'
import { headObject, listKeys, removeObject } from './objects.ts'
import { errorOf, textOf } from './response.ts'
import type { S3Location } from './url.ts'

/** Throws an `Error` that says what to change if the bucket does not meet the requirements. */
export async function assertSuitable(
  client: S3Client,
  images: ImageBucket,
  location: S3Location,
): Promise<void> {
  const { bucket, prefix } = location
  await assertNoVersions(client, bucket)
  await assertConditions(client, images, location)
  // Without list permission, Amazon answers 403 instead of 404 for missing keys.
  const query = { 'list-type': '2', 'max-keys': '1', prefix }
  const { failure } = await client.request({ method: 'GET', query, operation: 'LIST one image' })
  if (failure !== null) throw errorOf(failure)
}

async function assertNoVersions(client: S3Client, bucket: string): Promise<void> {
  const query = { versioning: '' }
  const operation = 'GET the versioning of the bucket'
  const { value, failure } = await client.request({ method: 'GET', query, operation })
  if (failure !== null) {
    // A store without versioning is fine.
    if (failure.status === 501 || failure.code === 'NotImplemented') return
    const cause = errorOf(failure)
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
  const status = textOf(value, 'Status')
  if (status === null) return
  throw new Error(
    `the bucket "${bucket}" has versioning ${status === 'Enabled' ? 'on' : 'suspended'}: ` +
      'a deleted image would live on as an old version. Use a bucket that never had versioning',
  )
}

/** Concurrent puts of one key at start. They detect stores that check a condition and write in two separate steps. */
const CONCURRENT_PUTS = 10

/** Some stores silently ignore conditions: then two images could get the same ID, or a removal could be undone. */
async function assertConditions(
  client: S3Client,
  images: ImageBucket,
  { bucket, prefix }: S3Location,
): Promise<void> {
  const probe = createProbe(client, prefix)
  const unsuitable = (condition: string) =>
    new Error(
      `the object store of "${bucket}" does not honour ${condition} on puts, or not on ${CONCURRENT_PUTS} concurrent ones: ` +
        'Pinhole needs conditional writes, which Amazon S3, Ceph RGW and Cloudflare R2 support',
    )
  try {
    const creations = await concurrently(() => probe.put({ 'if-none-match': '*' }))
    for (const { failure } of creations)
      if (failure !== null && failure.status !== 412) throw errorOf(failure)
    const found = await headObject(client, probe.key)
    // There may be no success at all if the response to the put that created the probe was lost.
    if (found === null || creations.filter(({ failure }) => failure === null).length > 1)
      throw unsuitable('if-none-match')

    const overwrites = await concurrently(() => images.mark(probe.key, found.etag, 'probe', probeBody()))
    const done = overwrites.filter(({ isDone }) => isDone).length
    const isReplyLost = done === 0 && overwrites.some(({ isRetried }) => isRetried)
    if (done !== 1 && !isReplyLost) throw unsuitable('if-match')
    await probe.remove()
  } catch (error) {
    await probe.remove().catch(() => {})
    // A full or busy store must still serve and delete.
    if (!(error instanceof StoreFull || error instanceof StoreUnavailable)) throw error
  }
}

/** Runs `put` concurrently and waits for all calls. Then throws the error of the first call that failed. */
async function concurrently<T>(put: () => Promise<T>): Promise<T[]> {
  const settled = await Promise.allSettled(Array.from({ length: CONCURRENT_PUTS }, put))
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

/** Random, so that every ETag is unique. */
const probeBody = () => new TextEncoder().encode(crypto.randomUUID())

const PROBE = '.probe-'

/** A probe's name is not an ID, so listings skip it. It is unique because some stores allow one put per second and key. */
function createProbe(client: S3Client, prefix: string, retryPolicy?: Partial<RetryPolicy>) {
  const key = `${prefix}${PROBE}${crypto.randomUUID()}`
  return {
    key,
    put(headers: Record<string, string> = {}) {
      const body = probeBody()
      return client.request({ method: 'PUT', key, headers, body, retryPolicy, operation: 'PUT a probe' })
    },
    remove: () => removeObject(client, key, retryPolicy),
  }
}

/** Age at which a probe counts as abandoned, by this machine's clock, which may be ahead of the store's. */
const ABANDONED_PROBE_MS = 1_800_000

/** Removes probes of processes that were killed before they could do so. */
export async function sweepProbes(client: S3Client, prefix: string): Promise<void> {
  for await (const { key, modifiedAt } of listKeys(client, prefix + PROBE))
    if (Date.now() - modifiedAt > ABANDONED_PROBE_MS) await removeObject(client, key)
}

/** How long a success is cached: `/readyz` is public, and every put costs money. Unit: milliseconds. */
const SUCCESS_TTL_MS = 2000

/** For readiness probes, which have short timeouts. */
const QUICK_RETRIES: Partial<RetryPolicy> = { attempts: 2, idleMs: 3000 }

/** The check resolves if a probe could be written and removed. */
export function createCheck(client: S3Client, prefix: string): () => Promise<void> {
  return cacheSuccess(SUCCESS_TTL_MS, async () => {
    const probe = createProbe(client, prefix, QUICK_RETRIES)
    const { failure } = await probe.put()
    if (failure !== null) throw errorOf(failure)
    await probe.remove()
  })
}
