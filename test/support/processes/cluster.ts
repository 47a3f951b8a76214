/** Several servers that share one S3 store and one Postgres, as on several machines. */
import { readServices } from '../../../scripts/services-state.ts'
import { startFakeS3 } from '../s3/fake-s3.ts'
import { plainRequests, type S3Service } from '../s3/under-test.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import type { Env } from './process.ts'
import { type RunningServer, type StartOptions, startServer } from './server.ts'

export const PROCESSES = 3

export interface S3Backend {
  /** "Ceph" or "the fake S3". */
  storeName: string
  service: S3Service
  stop(): Promise<void>
}

export interface Backends extends S3Backend {
  postgres: PostgresServer
  /** Settings with a new prefix and a new schema, to be shared by the servers of a cluster. */
  place(): Promise<Env>
}

/** `ceph`: uses Ceph if it is running, which it must be in CI. */
export async function startS3(options: { ceph: boolean }): Promise<S3Backend> {
  const ceph = options.ceph ? await readServices() : null
  if (options.ceph && process.env.PINHOLE_CI && ceph === null) {
    throw new Error('no S3 server runs: npm run services -- start')
  }
  if (ceph !== null) return { storeName: 'Ceph', service: await bucketOn(ceph), stop: async () => {} }
  const fake = await startFakeS3()
  return { storeName: 'the fake S3', service: fake, stop: () => fake.close() }
}

/** Like `startS3`, plus a Postgres. */
export async function startBackends(options: { ceph: boolean }): Promise<Backends> {
  const [s3, postgres] = await Promise.all([startS3(options), startPostgres()])
  let places = 0
  return {
    ...s3,
    postgres,
    async place() {
      return { ...s3Env(s3.service, `place-${++places}`), LEDGER_URL: await postgres.createSchema() }
    },
    async stop() {
      await Promise.all([s3.stop(), postgres.destroy()])
    },
  }
}

/** Settings of a server with its images in this store. */
export function s3Env(service: S3Service, prefix: string): Env {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = service
  return {
    OBJECTS_URL: `s3://${bucket}/${prefix}?endpoint=${endpoint}`,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  }
}

async function bucketOn(ceph: {
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
}): Promise<S3Service> {
  const { endpoint, accessKeyId, secretAccessKey } = ceph
  const service = { endpoint, accessKeyId, secretAccessKey, bucket: `pinhole-cluster-${process.pid}` }
  await plainRequests(service).createBucket(service.bucket)
  return service
}

export interface Cluster {
  servers: RunningServer[]
  stop(): Promise<void>
}

/** Starts one server per element of `options`, with the same settings but separate data folders. */
export async function startCluster(
  env: Env,
  options: StartOptions[] = Array.from({ length: PROCESSES }, () => ({})),
): Promise<Cluster> {
  const starting = options.map((each) => startServer(env, each))
  const results = await Promise.allSettled(starting)
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  return { servers, stop }
}
