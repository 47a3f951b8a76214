/** S3 and Postgres for the cluster bench. */
import { forEachConcurrent } from '../../src/async.ts'
import { s3Env, startS3 } from '../../test/support/processes/cluster.ts'
import { startPostgres } from '../../test/support/processes/postgres.ts'
import { plainRequests, type S3Service } from '../../test/support/s3/under-test.ts'

const CONCURRENT_DELETIONS = 32

export interface ClusterServices {
  storeName: string
  /** For direct requests, bypassing Pinhole. */
  service: S3Service
  /** Keys of the images with this prefix. */
  list(prefix: string): Promise<string[]>
  /** Environment of a server that stores images under `prefix` and has a new ledger. */
  env(prefix: string): Promise<Record<string, string>>
  countImages(prefix: string): Promise<number>
  empty(prefix: string): Promise<void>
  stop(): Promise<void>
}

export async function startClusterServices(): Promise<ClusterServices> {
  const { storeName, service, stop } = await startS3({ ceph: true })
  const postgres = await startPostgres({ flushes: true })
  const plain = plainRequests(service)
  const list = (prefix: string) => plain.list(`${prefix}/`)
  const remove = (keys: string[]) => forEachConcurrent(keys, CONCURRENT_DELETIONS, plain.remove)
  return {
    storeName,
    service,
    list,
    env: async (prefix) => ({ ...s3Env(service, prefix), LEDGER_URL: await postgres.createSchema() }),
    countImages: async (prefix) => (await list(prefix)).length,
    empty: async (prefix) => remove(await list(prefix)),
    async stop() {
      await remove(await plain.list(''))
      // The gateway keeps running after this bench.
      if (storeName === 'Ceph')
        await plain.request(`${service.endpoint}/${service.bucket}`, { method: 'DELETE' })
      await stop()
      await postgres.destroy()
    },
  }
}
