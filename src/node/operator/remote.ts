/** A remote server's data, accessed through its admin server: for commands with `--server`. */
import { type Config, isSafeForTokens, parseConfig } from '../../config.ts'
import { CALLS_PATH, PAGE_IDS, type SettingsSnapshot } from '../../http/operator/calls.ts'
import type { AdminSessions } from '../../service/admin-sessions.ts'
import type { Takedown } from '../../service/moderation/takedown.ts'
import { SettingError, type Settings } from '../../service/settings.ts'
import type { Ledger } from '../../stores/ledger.ts'
import { DamagedObject, type ObjectStore } from '../../stores/object-store.ts'
import type { OperatorData } from './operator-data.ts'

/** The remote admin server's address, if commands don't work on local data. */
export const SERVER_VARIABLE = 'PINHOLE_OPERATOR_SERVER'

const ANSWER_MS = 60_000

/** `url`: the admin server's address. Throws an `Error` if it is unsafe to send the token there. */
export function remoteData(url: string, token: string | undefined): OperatorData {
  if (!URL.canParse(url) || !isSafeForTokens(url)) throw new Error('--server must begin with https://')
  const { origin } = new URL(url)
  if (!token) throw new Error('OPERATOR_TOKEN is not set. Use the same value as the server')

  async function ask<T>(on: string, call: string, args: unknown[]): Promise<T> {
    const response = await fetch(origin + CALLS_PATH, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ on, call, given: args }),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    if (response.status === 401) throw new Error(`${origin} does not know this OPERATOR_TOKEN`)
    const text = await response.text()
    const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as {
      value?: T
      mistake?: string
      damaged?: string
    }
    if (answer.damaged !== undefined) throw new DamagedObject(answer.damaged)
    if (answer.mistake !== undefined) {
      throw on === 'settings' ? new SettingError(answer.mistake) : new Error(answer.mistake)
    }
    if (response.status === 200 && 'value' in answer) return answer.value as T
    throw new Error(`${origin} answered ${response.status}`)
  }

  /** A proxy whose methods are remote calls, except for those in `own`. */
  const remoteInterface = <Interface>(on: string, own: Partial<Interface> = {}): Interface =>
    new Proxy(own as object, {
      get: (target, name) =>
        Reflect.get(target, name) ?? ((...args: unknown[]) => ask(on, String(name), args)),
    }) as Interface

  async function* each(call: keyof Ledger): AsyncGenerator<never> {
    yield* await ask<never[]>('ledger', call, [])
  }

  const listing = (call: 'list' | 'listHeld') =>
    async function* (after = ''): AsyncGenerator<string> {
      for (let last = after; ; ) {
        const page = await ask<string[]>('objects', call, [last])
        yield* page
        if (page.length < PAGE_IDS) return
        last = page.at(-1)!
      }
    }

  const ledger = remoteInterface<Ledger>('ledger', {
    everyAuditEntry: () => each('everyAuditEntry'),
    everyCase: () => each('everyCase'),
  })
  const objects = remoteInterface<ObjectStore>('objects', {
    list: listing('list'),
    listHeld: listing('listHeld'),
  })
  const takedown = remoteInterface<Takedown>('takedown')
  const sessions = remoteInterface<AdminSessions>('sessions')
  const config: Config = parseConfig({ OPERATOR_URL: origin })
  const stores = { ledger, objects, clock: { now: Date.now } }
  return { config, stores, takedown, settings: remoteSettings(ask), sessions, server: origin }
}

function remoteSettings(ask: <T>(on: string, call: string, args: unknown[]) => Promise<T>): Settings {
  let latest: SettingsSnapshot | undefined
  return {
    current: () => latest!.current,
    changed: () => latest!.changed,
    async refresh() {
      latest = await ask('settings', 'refresh', [])
    },
    async change(...args) {
      latest = await ask('settings', 'change', args)
    },
    start() {},
    async stop() {},
  }
}
