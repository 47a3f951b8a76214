/** What a bucket must be like. Found out once, at start, rather than when it hurts. */
import { StoreFull, StoreUnavailable } from '../object-store.ts'
import { errorOf } from './answer.ts'
import type { S3Client } from './client.ts'
import { createProbe } from './probe.ts'
import { textOf } from './xml.ts'

/** Throws an `Error` that says what to change if `bucket` can't keep the store's promises. */
export async function assertFit(client: S3Client, bucket: string, prefix: string): Promise<void> {
  await assertNoVersions(client, bucket)
  await assertConditions(client, bucket, prefix)
}

async function assertNoVersions(client: S3Client, bucket: string): Promise<void> {
  const doing = 'GET the versioning of the bucket'
  const { value, failure } = await client.ask({ method: 'GET', query: { versioning: '' }, doing })
  if (failure !== null) {
    if (failure.code === 'NoSuchBucket') {
      throw new Error(`the bucket "${bucket}" does not exist: create it, without versioning`, {
        cause: errorOf(failure, doing),
      })
    }
    // A store that knows no versions has nothing to refuse.
    if (failure.status === 501 || failure.code === 'NotImplemented') return
    if (failure.code === 'AccessDenied') {
      throw new Error(
        `can't tell whether the bucket "${bucket}" keeps old versions: allow s3:GetBucketVersioning`,
        { cause: errorOf(failure, doing) },
      )
    }
    throw errorOf(failure, doing)
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
    const conditions: Record<string, string>[] = [
      { 'if-none-match': '*' },
      { 'if-match': '"00000000000000000000000000000000"' },
    ]
    // 412 to a repeated first put: the lost attempt made the probe.
    if (created.failure !== null && created.failure.status !== 412)
      throw errorOf(created.failure, 'PUT a probe')
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
