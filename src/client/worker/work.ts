/** What a worker does, whatever kind of worker it is. */
import { Refusal } from '../../errors.ts'
import type { Inspection } from '../../formats/image.ts'
import { isWhole, lengthOf, sourceOf } from '../../formats/image.ts'
import { blobOf, blobSource } from '../blob-source.ts'
import type { Codecs } from '../compress/codecs.ts'
import { examine } from '../compress/examine.ts'
import { inspect } from '../compress/inspect.ts'
import { planFor } from '../compress/plan.ts'
import { type Milestones, type Recompressed, recompress } from '../compress/recompress.ts'
import type { Reply, Request } from './messages.ts'

/** Handles requests one after the other. */
export function createWork(codecs: Codecs, reply: (reply: Reply, transfer?: ArrayBuffer[]) => void) {
  return async (request: Request): Promise<void> => {
    if (request.kind === 'prepare') return codecs.load('jpeg').catch(() => {})
    try {
      const last = await compress(request, codecs, reply)
      reply(last, last.kind === 'recompressed' ? [last.bytes.buffer] : [])
    } catch (error) {
      reply(
        error instanceof Refusal
          ? { kind: 'refused', code: error.code, detail: error.detail }
          : { kind: 'failed', message: error instanceof Error ? error.message : String(error) },
      )
    }
  }
}

async function compress(
  { blob, mode, means }: Request & { kind: 'compress' },
  codecs: Codecs,
  reply: (reply: Reply) => void,
): Promise<Reply> {
  const source = blobSource(blob)
  const inspection = await inspect(source)
  const { facts, profile } = await examine(source, inspection)
  reply({ kind: 'inspected', inspection })
  const plan = planFor(facts, mode, means)
  if (plan.kind === 'keep') return { kind: 'kept' }
  if (plan.kind === 'scrub') return { kind: 'scrubbed', ...(plan.fallback && { fallback: plan.fallback }) }
  const scrubbed = new Uint8Array(await blobOf(blob, inspection.segments, inspection.type).arrayBuffer())
  const orientation = facts.png?.orientation ?? 1
  let result: Recompressed | null
  try {
    await codecs.load(plan.kind)
    reply({ kind: 'working' })
    const milestones: Milestones = {
      decoded: (milliseconds) => reply({ kind: 'decoded', milliseconds }),
      interim: async (interim) => {
        if (await isSound(interim, inspection)) reply({ kind: 'interim', ...interim })
      },
    }
    const area = inspection.width * inspection.height
    result = await recompress(plan, { scrubbed, profile, orientation, area }, codecs, milestones)
    if (result && !(await isSound(result, inspection))) throw new Error('the result is not the same picture')
  } catch {
    return { kind: 'scrubbed', fallback: 'codec-error' }
  }
  if (result === null) return { kind: 'scrubbed' }
  return { kind: 'recompressed', ...result }
}

/** The universal guard: a codec's result is inspected like any stranger's file before it is trusted. */
async function isSound({ bytes, type }: Recompressed, original: Inspection): Promise<boolean> {
  const result = await inspect(sourceOf(bytes))
  return (
    bytes.length < lengthOf(original.segments) &&
    result.type === type &&
    result.width === original.width &&
    result.height === original.height &&
    !result.animated &&
    isWhole(result.segments, bytes.length)
  )
}
