/**
 * POST /calls: remote procedure calls of the operator's commands on another machine, `{"on": "takedown", "call": "hold",
 * "given": […]}`. For programs only, authenticated by their token. Only `settings` and the methods listed in `CALLS` can be
 * called.
 */
import { parseJsonObject } from '../../json.ts'
import { SettingError, type SettingValues } from '../../service/settings.ts'
import { DamagedObject } from '../../stores/object-store.ts'
import { readText } from '../body.ts'
import type { AppContext } from '../context.ts'
import type { OperatorParts } from './access.ts'

export const CALLS_PATH = '/calls'

const BODY_MAX_BYTES = 64 * 1024

/** Page size of a listing of image IDs. */
export const PAGE_IDS = 1000

const CALLS = {
  takedown: ['remove', 'hold', 'release', 'keep', 'sameUploader', 'sameNetwork', 'block', 'unblock'],
  ledger: [
    'cases',
    'caseOf',
    'reportsOf',
    'auditLog',
    'counts',
    'holdOf',
    'absenceReason',
    'everyAuditEntry',
    'everyCase',
  ],
  objects: ['head', 'headHeld', 'list', 'listHeld'],
  sessions: ['createLoginToken'],
} as const

type Port = keyof typeof CALLS

export interface SettingsSnapshot {
  current: SettingValues
  changed: Partial<SettingValues>
}

/** Responds `{"value": …}`, or 400 with `{"mistake": "…"}`, or with `{"damaged": id}` when an image is corrupt. */
export async function answerCall(c: AppContext, parts: OperatorParts): Promise<Response> {
  const request = parseCall(await readText(c, BODY_MAX_BYTES))
  if (request === null) return c.json({ mistake: 'The body is not a valid call.' }, 400)
  const { on, call, given } = request
  if (on === 'settings') return answerSettings(c, parts, call, given)
  const isKnown = Object.hasOwn(CALLS, on) && (CALLS[on as Port] as readonly string[]).includes(call)
  if (!isKnown) return c.json({ mistake: `${on}.${call} cannot be called remotely.` }, 400)
  const port = parts[on as Port] as unknown as Record<string, (...args: unknown[]) => unknown>
  let value: unknown
  try {
    value = await port[call]!(...given)
  } catch (error) {
    if (error instanceof DamagedObject) return c.json({ damaged: given[0] }, 400)
    throw error
  }
  return c.json({ value: isIterable(value) ? await collect(value, on === 'objects') : (value ?? null) })
}

async function answerSettings(
  c: AppContext,
  { settings }: OperatorParts,
  call: string,
  given: unknown[],
): Promise<Response> {
  try {
    if (call === 'change') await settings.change(...(given as Parameters<typeof settings.change>))
    else await settings.refresh()
  } catch (error) {
    if (error instanceof SettingError) return c.json({ mistake: error.message }, 400)
    throw error
  }
  const value: SettingsSnapshot = { current: settings.current(), changed: settings.changed() }
  return c.json({ value })
}

function parseCall(text: string): { on: string; call: string; given: unknown[] } | null {
  const { on, call, given } = parseJsonObject(text) ?? {}
  return typeof on === 'string' && typeof call === 'string' && Array.isArray(given)
    ? { on, call, given }
    : null
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Collects all values, or a single page of them. */
async function collect(values: AsyncIterable<unknown>, isPaged: boolean): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const value of values) {
    all.push(value)
    if (isPaged && all.length === PAGE_IDS) break
  }
  return all
}
