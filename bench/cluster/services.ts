/** The S3 store and the Postgres that the cluster bench runs on. */
import { s3Env, startS3 } from '../../test/support/processes/cluster.ts'
import { startPostgres } from '../../test/support/processes/postgres.ts'
import { plainRequests, type S3Service } from '../../test/support/s3/under-test.ts'

const DELETIONS_AT_ONCE = 32

export interface ClusterServices {
  storeName: string
  /** For requests past our servers. */
  service: S3Service
  /** Keys of images with this prefix. */
  list(prefix: string): Promise<string[]>
  /** For servers whose images are under `prefix` and whose ledger is new. */
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
  const remove = async (keys: string[]) => {
    const removeSome = async () => {
      for (let key = keys.pop(); key !== undefined; key = keys.pop()) await plain.remove(key)
    }
    await Promise.all(Array.from({ length: DELETIONS_AT_ONCE }, removeSome))
  }
  return {
    storeName,
    service,
    list,
    env: async (prefix) => ({ ...s3Env(service, prefix), LEDGER_URL: await postgres.createSchema() }),
    countImages: async (prefix) => (await list(prefix)).length,
    empty: async (prefix) => remove(await list(prefix)),
    async stop() {
      await remove(await plain.list(''))
      // The gateway outlives this run.
      if (storeName === 'Ceph')
        await plain.request(`${service.endpoint}/${service.bucket}`, { method: 'DELETE' })
      await stop()
      await postgres.destroy()
    },
  }
}
