/**
 * The line in which uploads wait, unread, until the isolate has memory for their drafts. Isolates come and go, and requests
 * of one may be cut off without a word, so none ever waits for another's promise: each looks for itself whether it is its
 * turn, and what a lost one held is free after a while.
 */
import { sleep } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { Client, UploadQueue } from '../service/quota/upload-queue.ts'
import { BLOCK_BYTES } from '../stores/r2/draft.ts'
import type { Limits } from './limits.ts'

interface Entry {
  readonly address: string
  /** Memory that its draft may take. */
  readonly bytes: number
  isReading: boolean
  /** It depends on uploads of its address that have not ended. */
  isStalled: boolean
  touchedAt: number
}

export interface IsolateUploadQueue {
  /** The line as one upload sees it. `bytes`: that its body says it has, or may have. */
  queueFor(bytes: number): UploadQueue & { touch(): void }
  /** Memory of drafts that are received or stored now. */
  heldBytes(): number
  /** The most that it ever was. */
  peakBytes(): number
}

const TOO_LONG = 'This upload waited too long for its turn. Please try again in a moment.'
const FULL = 'This server has as many uploads waiting as it can keep. Please try again in a moment.'

/** `uploadsAtOnce`: of one address. */
export function createUploadQueue(limits: Limits, uploadsAtOnce: number): IsolateUploadQueue {
  /** In order of arrival. */
  let entries: Entry[] = []
  // Counted along: hundreds look often.
  let held = 0
  let peak = 0
  let reading = 0
  const readingOf = new Map<string, number>()

  function setReading(entry: Entry, isReading: boolean): void {
    if (entry.isReading === isReading) return
    entry.isReading = isReading
    const one = isReading ? 1 : -1
    reading += one
    held += one * entry.bytes
    peak = Math.max(peak, held)
    const ofAddress = (readingOf.get(entry.address) ?? 0) + one
    if (ofAddress > 0) readingOf.set(entry.address, ofAddress)
    else readingOf.delete(entry.address)
  }

  function leave(entry: Entry): void {
    setReading(entry, false)
    entries = entries.filter((other) => other !== entry)
  }

  /** `now`: not later than when the caller's own entry was touched. */
  function dropLost(now: number): void {
    for (const entry of entries) if (entry.touchedAt < now - limits.lostMs) leave(entry)
  }

  /** First come, first served: of an address, and of those that only lack memory. */
  function hasTurn(entry: Entry): boolean {
    if (!hasSeat(entry.address) || held + entry.bytes > limits.draftBytes) return false
    for (const earlier of entries) {
      if (earlier === entry) break
      if (earlier.isReading) continue
      if (earlier.address === entry.address || (!earlier.isStalled && hasSeat(earlier.address))) return false
    }
    return true
  }

  function hasSeat(address: string): boolean {
    return (readingOf.get(address) ?? 0) < uploadsAtOnce
  }

  async function enter<Admitted>(
    entry: Entry,
    client: Client,
    admit: () => Promise<Admitted | null>,
  ): Promise<Admitted> {
    const waiting = entries.filter(({ isReading }) => !isReading)
    const ofAddress = waiting.filter(({ address }) => address === entry.address)
    if (ofAddress.length >= limits.waitingOfAddress || waiting.length >= limits.waiting) {
      throw new Refusal('busy', FULL)
    }
    let isGone = false
    const ignore = client.onGone(() => {
      isGone = true
    })
    const until = Date.now() + limits.waitMs
    entries.push(entry)
    try {
      for (let retryMs = limits.firstRetryMs, notBefore = 0; ; await sleep(limits.pollMs)) {
        const now = Date.now()
        entry.touchedAt = now
        dropLost(now)
        if (isGone) throw new Refusal('malformed-multipart', 'The connection was lost before the body ended.')
        if (now >= notBefore && hasTurn(entry)) {
          setReading(entry, true)
          const admitted = await admit()
          if (admitted !== null) return admitted
          setReading(entry, false)
          entry.isStalled = true
          notBefore = Date.now() + retryMs
          retryMs = Math.min(limits.lastRetryMs, retryMs * 2)
        }
        if (now > until) throw new Refusal('busy', TOO_LONG)
      }
    } catch (error) {
      leave(entry)
      throw error
    } finally {
      ignore()
    }
  }

  return {
    queueFor(bytes) {
      let entry: Entry | undefined
      return {
        async enter(client, admit) {
          const taken: Entry = {
            address: client.address,
            bytes: Math.min(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES, limits.draftBytes),
            isReading: false,
            isStalled: false,
            touchedAt: Date.now(),
          }
          entry = taken
          const admitted = await enter(taken, client, admit)
          return { admitted, end: () => leave(taken) }
        },
        counts: () => ({ reading, waiting: entries.length - reading }),
        touch() {
          if (entry !== undefined) entry.touchedAt = Date.now()
        },
      }
    },
    heldBytes: () => held,
    peakBytes: () => peak,
  }
}
