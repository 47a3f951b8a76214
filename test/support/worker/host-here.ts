/** The Worker's host in this process, on a folder and SQLite, without workerd. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Notifier } from '../../../src/notify/notifier.ts'
import { createEvidence } from '../../../src/service/moderation/evidence.ts'
import type { Files } from '../../../src/stores/files.ts'
import { openFilesystemStore } from '../../../src/stores/filesystem/store.ts'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import { openR2Files } from '../../../src/stores/r2/store.ts'
import { openSqliteLedger } from '../../../src/stores/sqlite/ledger.ts'
import { configOf, type Env } from '../../../src/worker/env.ts'
import { createHost, type Host } from '../../../src/worker/host.ts'
import type { Limits } from '../../../src/worker/limits.ts'
import { createLog } from '../../../src/worker/log.ts'
import type { Execution } from '../../../src/worker/purging.ts'
import { newFolder } from '../folder.ts'
import { formOf } from '../multipart.ts'
import { r2InMemory } from './counted-bindings.ts'

export const SITE = 'https://pics.example'

export interface HostHere {
  host: Host
  ledger: Ledger
  objects: ObjectStore
  /** Sealed evidence. */
  files: Files
  /** Sends a request to the site, or to the host of an absolute URL. Also waits for background work (`waitUntil`), unless `waitsBehind` is false. */
  ask(method: string, path: string, more?: RequestInit): Promise<Response>
  upload(bytes: Uint8Array, headers?: Record<string, string>): Promise<Response>
  trigger(): Promise<void>
}

/** Evidence is an empty file. `between`: wraps a port before the host gets it. */
export async function startHostHere(
  t: TestContext,
  options: {
    variables?: Record<string, string>
    cache?: Execution['cache']
    waitsBehind?: boolean
    notifiers?: Notifier[]
    limits?: Partial<Limits>
    /** Default: a folder and SQLite. */
    stores?: { objects: ObjectStore; ledger: Ledger }
    between?: <Port extends Ledger | ObjectStore>(port: Port) => Port
  } = {},
): Promise<HostHere> {
  const { variables = {}, cache, waitsBehind = true, between = (port) => port } = options
  const { ledger, objects } = options.stores ?? (await storesHere(t))
  const ports = { objects: between<ObjectStore>(objects), ledger: between<Ledger>(ledger) }
  const seal = async () => new Uint8Array()
  const files = openR2Files(
    r2InMemory(() => {}),
    '.evidence/',
  )
  const bound = { IMAGES: {}, LEDGER: {}, PRIVATE: {}, ASSETS: {}, BASE_URL: SITE, LOG_LEVEL: 'silent' }
  const host = createHost({
    config: configOf({ ...bound, ...variables } as unknown as Env),
    ...ports,
    checkMigrations: async () => {},
    notifiers: options.notifiers ?? [],
    evidence: () => createEvidence({ ...ports, seal, files, now: Date.now }),
    // No page assets are requested.
    assets: { urls: { styles: {}, scripts: {} } as never, asset: () => null },
    log: createLog('silent'),
    ...(options.limits && { limits: options.limits }),
  })

  async function ask(method: string, path: string, more: RequestInit = {}): Promise<Response> {
    const background: Promise<unknown>[] = []
    const headers = { 'CF-Connecting-IP': '198.51.100.7', ...(more.headers as Record<string, string>) }
    const request = new Request(new URL(path, SITE), { method, ...more, headers })
    const response = await host.fetch(request, {
      ...(cache && { cache }),
      waitUntil: (work) => void background.push(work),
    })
    if (waitsBehind) await Promise.all(background)
    return response
  }

  return {
    host,
    ledger,
    objects,
    files,
    ask,
    upload(bytes, headers = {}) {
      const { body, contentType } = formOf(Buffer.from(bytes))
      return ask('POST', '/api/upload', {
        headers: { 'Content-Type': contentType, ...headers },
        body: new Uint8Array(body),
      })
    },
    trigger: () => host.scheduled({ ...(cache && { cache }), waitUntil() {} }),
  }
}

async function storesHere(t: TestContext): Promise<{ objects: ObjectStore; ledger: Ledger }> {
  const folder = await newFolder()
  const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') })
  t.after(async () => {
    await ledger.close()
    await rm(folder, { recursive: true })
  })
  return { ledger, objects: await openFilesystemStore({ folder: join(folder, 'images'), hotSetBytes: 0 }) }
}
