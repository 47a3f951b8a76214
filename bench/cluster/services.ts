/** The S3 store and the Postgres that the cluster bench runs on. */
import { readServices } from '../../scripts/services-state.ts'
import { s3Env, serviceOf } from '../../test/support/processes/cluster.ts'
import { startPostgres } from '../../test/support/processes/postgres.ts'
import { startFakeS3 } from '../../test/support/s3/fake-s3.ts'
import { plainRequests, type S3Service } from '../../test/support/s3/under-test.ts'

const DELETIONS_AT_ONCE = 32

interface Bucket {
  name: string
  service: S3Service
  /** Images of the servers with this prefix; of all without one. */
  list(prefix?: string): Promise<string[]>
  remove(keys: string[]): Promise<void>
  stop(): Promise<void>
}

export interface ClusterServices {
  storeName: string
  /** For requests past our servers. */
  service: S3Service
  /** Keys of images with this prefix. */
  list(prefix: string): Promise<string[]>
  /** Of servers whose images are under `prefix` and whose ledger is a new one. */
  env(prefix: string): Promise<Record<string, string>>
  countImages(prefix: string): Promise<number>
  empty(prefix: string): Promise<void>
  stop(): Promise<void>
}

export async function startClusterServices(): Promise<ClusterServices> {
  const bucket = (await cephBucket()) ?? (await fakeBucket())
  const postgres = await startPostgres({ flushes: true })
  return {
    storeName: bucket.name,
    service: bucket.service,
    list: bucket.list,
    env: async (prefix) => ({
      ...s3Env(bucket.service, prefix),
      LEDGER_URL: await postgres.createSchema(),
    }),
    countImages: async (prefix) => (await bucket.list(prefix)).length,
    empty: async (prefix) => bucket.remove(await bucket.list(prefix)),
    async stop() {
      await bucket.stop()
      await postgres.destroy()
    },
  }
}

async function cephBucket(): Promise<Bucket | null> {
  const ceph = await readServices()
  if (ceph === null) return null
  const { endpoint, accessKeyId, secretAccessKey } = ceph
  const service = { endpoint, accessKeyId, secretAccessKey, bucket: `pinhole-bench-${process.pid}` }
  const plain = plainRequests(service)
  await plain.createBucket(service.bucket)
  const list = (prefix?: string) => plain.list(prefix === undefined ? '' : `${prefix}/`)
  async function remove(keys: string[]): Promise<void> {
    const left = [...keys]
    const removeSome = async () => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) await plain.remove(key)
    }
    await Promise.all(Array.from({ length: DELETIONS_AT_ONCE }, removeSome))
  }
  return {
    name: 'Ceph',
    service,
    list,
    remove,
    stop: async () => {
      await remove(await list())
      await plain.request(`${endpoint}/${service.bucket}`, { method: 'DELETE' })
    },
  }
}

async function fakeBucket(): Promise<Bucket> {
  const fake = await startFakeS3()
  return {
    name: 'a fake S3',
    service: serviceOf(fake),
    list: async (prefix) =>
      [...fake.objects.keys()].filter((key) => prefix === undefined || key.startsWith(`${prefix}/`)),
    remove: async (keys) => {
      for (const key of keys) fake.objects.delete(key)
      fake.requests.length = 0
    },
    stop: fake.close,
  }
}
