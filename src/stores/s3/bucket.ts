/** What a bucket must be like, found out at start; and whether it can be written now. */
import { cacheSuccess } from '../../async.ts'
import type { ImageBucket } from '../bucket/store.ts'
import { StoreFull, StoreUnavailable } from '../object-store.ts'
import { errorOf, textOf } from './answer.ts'
import type { RetryPolicy, S3Client } from './client.ts'
import { headObject, listKeys, removeObject } from './objects.ts'
import type { S3Location } from './url.ts'

/** Throws an `Error` that says what to change if `bucket` can't keep the store's promises. */
export async function assertFit(client: S3Client, images: ImageBucket, location: S3Location): Promise<void> {
  const { bucket, prefix } = location
  await assertNoVersions(client, bucket)
  await assertConditions(client, images, location)
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

/** Puts of one key that a start sends at one moment: some stores check a condition in one step and write in another. */
const PUTS_AT_ONCE = 10

/** Some stores accept conditions and ignore them: then two images could take one id, or a removal be undone. */
async function assertConditions(
  client: S3Client,
  images: ImageBucket,
  { bucket, prefix }: S3Location,
): Promise<void> {
  const probe = createProbe(client, prefix)
  const unfit = (condition: string) =>
    new Error(
      `the object store of "${bucket}" does not honour ${condition} on a put, or not when ${PUTS_AT_ONCE} come at once: ` +
        'Pinhole needs conditional writes, as Amazon S3, Ceph RGW and Cloudflare R2 have them',
    )
  try {
    const creations = await atOnce(() => probe.put({ 'if-none-match': '*' }))
    for (const { failure } of creations)
      if (failure !== null && failure.status !== 412) throw errorOf(failure, 'PUT a probe')
    const found = await headObject(client, probe.key)
    // No success where the reply to the one that made the probe was lost.
    if (found === null || creations.filter(({ failure }) => failure === null).length > 1)
      throw unfit('if-none-match')

    const markings = await atOnce(() => images.mark(probe.key, found.etag, 'probe', probeBody()))
    const done = markings.filter(({ isDone }) => isDone).length
    const isReplyLost = done === 0 && markings.some(({ isRepeated }) => isRepeated)
    if (done !== 1 && !isReplyLost) throw unfit('if-match')
    await probe.remove()
  } catch (error) {
    await probe.remove().catch(() => {})
    // A full or busy store must still serve and delete.
    if (!(error instanceof StoreFull || error instanceof StoreUnavailable)) throw error
  }
}

/** Waits for all, then throws what the first one threw. */
async function atOnce<T>(put: () => Promise<T>): Promise<T[]> {
  const settled = await Promise.allSettled(Array.from({ length: PUTS_AT_ONCE }, put))
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Random, so that no two have one ETag. */
const probeBody = () => new TextEncoder().encode(crypto.randomUUID())

const PROBE = '.probe-'

/** Not an id, so no listing shows it. Each has a name of its own: some stores take one put a second to a key. */
function createProbe(client: S3Client, prefix: string, retryPolicy?: Partial<RetryPolicy>) {
  const key = `${prefix}${PROBE}${crypto.randomUUID()}`
  return {
    key,
    put: (headers: Record<string, string> = {}) =>
      client.ask({ method: 'PUT', key, headers, body: probeBody(), doing: 'PUT a probe' }, retryPolicy),
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

/** Resolves if a probe could be written and removed. */
export function createCheck(client: S3Client, prefix: string): () => Promise<void> {
  return cacheSuccess(SUCCESS_HOLDS_MS, async () => {
    const probe = createProbe(client, prefix, QUICK_RETRIES)
    const { failure } = await probe.put()
    if (failure !== null) throw errorOf(failure, 'PUT a probe')
    await probe.remove()
  })
}
