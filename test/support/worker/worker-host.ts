/** The Worker on workerd, as a host for the HTTP contract. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Log, LogLevel, Miniflare } from 'miniflare'
import { Agent, setGlobalDispatcher } from 'undici'
import { ENTRY, type WorkerModule, workerModules } from '../../../build/worker.ts'
import { loadAssets } from '../../../src/node/assets/load.ts'
import type { D1Binding } from '../../../src/stores/d1/binding.ts'
import type { R2Bucket } from '../../../src/stores/r2/binding.ts'
import { freePort } from '../processes/caches.ts'
import { ROOT } from '../processes/process.ts'
import { migrate } from './d1-under-test.ts'

/** `OPERATOR_URL` of a Worker on this machine. */
export const LOCAL_OPERATOR = 'http://localhost:PORT'

export interface WorkerHost {
  url: string
  /** With `LOCAL_OPERATOR`: the admin server, on the same port. */
  operatorUrl: string
  baseUrl: string
  database: D1Binding
  bucket: R2Bucket
  /** Separate bucket for salts. */
  salts: R2Bucket
  logs(): string
  stop(): Promise<void>
  /** Fires the cron trigger. */
  cron(): Promise<void>
}

/** The same flags as in deploy/cloudflare/wrangler.jsonc. */
const COMPATIBILITY = { compatibilityDate: '2026-07-01', compatibilityFlags: ['enable_request_signal'] }

// For `fetch`. workerd ends a connection that was idle for 5 s, even if a request has just arrived on it.
setGlobalDispatcher(new Agent({ keepAliveTimeout: 1000 }))

/** Variables that only other hosts understand. */
const FOREIGN_VARIABLES = ['TRUSTED_PROXIES', 'NODE_OPTIONS', 'FAILING_DISK']

let built: Promise<WorkerModule[]> | undefined

/** The Worker's modules, as deployed. */
export function modules(): Promise<WorkerModule[]> {
  built ??= workerModules()
  return built
}

/** Miniflare uses the first module as the entry point. */
const byEntry = (a: WorkerModule, b: WorkerModule) => Number(b.name === ENTRY) - Number(a.name === ENTRY)

interface Options {
  /** PEM. Default: plain HTTP. */
  tls?: { key: string; certificate: string }
  /** Port of V8's inspector. */
  inspectorPort?: number
}

/** `:PORT` in a variable is replaced with the port. */
export async function startWorker(
  env: Record<string, string | undefined> = {},
  { tls, inspectorPort }: Options = {},
): Promise<WorkerHost> {
  // `loadAssets` builds the page assets if necessary.
  const [own, port] = await Promise.all([modules(), freePort(), loadAssets()])
  const lines: string[] = []
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
  const { BASE_URL: baseUrl = url, ...others } = env
  const variables = Object.fromEntries(
    Object.entries(others).filter(
      ([name, value]) => value !== undefined && !FOREIGN_VARIABLES.includes(name),
    ),
  ) as Record<string, string>
  class CapturingLog extends Log {
    override log(message: string): void {
      lines.push(message)
    }
  }
  const miniflare = new Miniflare({
    ...COMPATIBILITY,
    modules: own
      .toSorted(byEntry)
      .map(({ name, text }) => ({ type: 'ESModule', path: name, contents: text })),
    cf: false,
    host: '127.0.0.1',
    port,
    ...(inspectorPort !== undefined && { inspectorPort }),
    ...(tls && { https: true, httpsKey: tls.key, httpsCert: tls.certificate }),
    bindings: withPort({ ...variables, BASE_URL: baseUrl }, port),
    r2Buckets: ['IMAGES', 'PRIVATE'],
    d1Databases: ['LEDGER'],
    // Fake of the static assets binding, which serves the files of a folder.
    serviceBindings: { ASSETS: async (request: Request) => fileOf(request) as never },
    log: new CapturingLog(LogLevel.WARN),
    handleRuntimeStdio(stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream) {
      stdout.on('data', (data) => lines.push(String(data)))
      stderr.on('data', (data) => lines.push(String(data)))
    },
  } as ConstructorParameters<typeof Miniflare>[0])
  await miniflare.ready
  const database = (await miniflare.getD1Database('LEDGER')) as unknown as D1Binding
  await migrate(database)
  return {
    url,
    operatorUrl: url.replace('127.0.0.1', 'localhost'),
    baseUrl,
    database,
    bucket: (await miniflare.getR2Bucket('IMAGES')) as unknown as R2Bucket,
    salts: (await miniflare.getR2Bucket('PRIVATE')) as unknown as R2Bucket,
    logs: () => lines.join('\n'),
    stop: () => miniflare.dispose(),
    async cron() {
      const worker = (await miniflare.getWorker()) as unknown as {
        scheduled(event: { cron: string }): Promise<unknown>
      }
      await worker.scheduled({ cron: '* * * * *' })
    },
  }
}

function withPort(variables: Record<string, string>, port: number): Record<string, string> {
  const entries = Object.entries(variables)
  return Object.fromEntries(entries.map(([name, value]) => [name, value.replace(':PORT', `:${port}`)]))
}

async function fileOf(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const bytes = await readFile(join(ROOT, 'dist/web', pathname)).catch(() => null)
  return bytes === null ? new Response(null, { status: 404 }) : new Response(bytes)
}
