/** Brings images from one store into another: each once, whole, and with the digest of its record. */
import {
  DamagedObject,
  type Draft,
  IdTaken,
  type ObjectStore,
  type StoredImage,
} from '../stores/object-store.ts'
import { createSemaphore } from './semaphore.ts'

export interface Transfer {
  /** Brought over. */
  copied: number
  bytes: number
  /** Already there. */
  kept: number
  /** Ids that can't be read, or whose bytes are not those of their record. */
  damaged: string[]
}

const AT_ONCE = 16

/**
 * Brings over what `to` has not. Both are listed in one order, so that nothing is asked for twice and an interrupted
 * transfer goes on where it was. What is held in `from` is held in `to`, and the other way round. `bytesPerSecond`: an upper bound, `null` for none.
 */
export async function transferImages(options: {
  from: ObjectStore
  to: ObjectStore
  bytesPerSecond: number | null
  onProgress?: (transfer: Transfer, id: string) => void
}): Promise<Transfer> {
  const { from, to, bytesPerSecond, onProgress } = options
  const transfer: Transfer = { copied: 0, bytes: 0, kept: 0, damaged: [] }
  const semaphore = createSemaphore(AT_ONCE)
  const startedAt = performance.now()
  const underWay = new Set<Promise<void>>()
  let failure: { error: unknown } | null = null
  // Few: each is a decision of the operator's.
  const held = new Set<string>()
  for await (const id of to.listHeld()) held.add(id)

  async function bring(id: string): Promise<void> {
    try {
      // Released since the last transfer.
      if (held.delete(id)) await to.release(id)
      const bytes = await copyImage(id, from, to)
      if (bytes === null) transfer.kept++
      else {
        transfer.copied++
        transfer.bytes += bytes
      }
    } catch (error) {
      if (error instanceof DamagedObject) transfer.damaged.push(id)
      else failure ??= { error }
    }
    onProgress?.(transfer, id)
  }

  for await (const id of missing(from.list(), to.list(), () => transfer.kept++)) {
    if (failure !== null) break
    if (bytesPerSecond !== null) await pause((transfer.bytes / bytesPerSecond) * 1000 - sinceMs(startedAt))
    const work = semaphore.run(() => bring(id)).finally(() => underWay.delete(work))
    underWay.add(work)
    // So many are begun; the list need not be held.
    if (underWay.size >= AT_ONCE * 2) await Promise.race(underWay)
  }
  await Promise.all(underWay)
  // Assigned in a callback.
  const failed = failure as { error: unknown } | null
  if (failed !== null) throw failed.error
  for await (const id of from.listHeld()) {
    if (held.has(id)) continue
    try {
      const bytes = await copyImage(id, { open: from.openHeld }, to)
      // It may have been visible when it was brought over first.
      await to.hold(id)
      transfer.copied++
      transfer.bytes += bytes ?? 0
    } catch (error) {
      if (!(error instanceof DamagedObject)) throw error
      transfer.damaged.push(id)
    }
  }
  return transfer
}

/** The image's size, or `null` if it was there or is gone. Throws `DamagedObject`. */
export async function copyImage(
  id: string,
  from: { open(id: string): Promise<StoredImage | null> },
  to: ObjectStore,
): Promise<number | null> {
  const image = await from.open(id)
  if (image === null) return null
  const { record } = image
  let draft: Draft
  try {
    draft = await to.draft(piecesOf(image.body), record.size)
  } finally {
    image.release?.()
  }
  try {
    const whole = [{ offset: 0, length: draft.size }]
    if (draft.size !== record.size || (await draft.digest(whole)) !== record.sha256)
      throw new DamagedObject(id)
    // What was retired there stays away.
    await draft.commit(record, whole, { isContended: true })
    return record.size
  } catch (error) {
    if (error instanceof IdTaken) return null
    throw error
  } finally {
    await draft.discard()
  }
}

async function* piecesOf(body: Uint8Array | ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else for await (const piece of body as unknown as AsyncIterable<Uint8Array>) yield piece
}

/** Those of `wanted` that `known` has not. Both in ascending order. */
async function* missing(
  wanted: AsyncIterable<string>,
  known: AsyncIterable<string>,
  onKnown: () => void,
): AsyncGenerator<string> {
  const others = known[Symbol.asyncIterator]()
  let other = await others.next()
  for await (const id of wanted) {
    while (!other.done && other.value < id) other = await others.next()
    if (!other.done && other.value === id) onKnown()
    else yield id
  }
}

function sinceMs(startedAt: number): number {
  return performance.now() - startedAt
}

function pause(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))
}
