/**
 * Queues uploads, unread, until the isolate has memory for their drafts. Isolates come and go and requests may be cut off
 * silently, so no upload ever awaits another one's promise: each polls whether it can start, and the slot of a lost upload
 * is freed after a timeout.
 */
import { sleep } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { Client, UploadQueue } from '../service/quota/upload-queue.ts'
import { BLOCK_BYTES } from '../stores/r2/draft.ts'
import type { Limits } from './limits.ts'

interface Entry {
  readonly address: string
  readonly network: string
  /** Memory reserved for the draft. */
  readonly bytes: number
  isReading: boolean
  /** Admission depends on unfinished uploads of the same address. */
  isStalled: boolean
  touchedAt: number
}

export interface IsolateUploadQueue {
  /** The queue for a single upload. `bytes`: announced or maximum size of the body. */
  queueFor(bytes: number): Pick<UploadQueue, 'enter'> & { touch(): void }
  /** Memory held by drafts that are being received or stored. */
  heldBytes(): number
}

const TOO_LONG = 'This upload waited too long in the queue. Please try again in a moment.'
const FULL = 'The upload queue of this server is full. Please try again in a moment.'

export function createUploadQueue(limits: Limits, maxPerAddress: number): IsolateUploadQueue {
  /** In order of arrival. */
  let entries: Entry[] = []
  // Maintained incrementally, because hundreds of queued uploads poll it.
  let held = 0
  const ofAddress = new Map<string, number>()
  const ofNetwork = new Map<string, number>()

  function setReading(entry: Entry, isReading: boolean): void {
    if (entry.isReading === isReading) return
    entry.isReading = isReading
    const sign = isReading ? 1 : -1
    held += sign * entry.bytes
    count(ofAddress, entry.address, sign)
    count(ofNetwork, entry.network, sign)
  }

  function leave(entry: Entry): void {
    setReading(entry, false)
    entries = entries.filter((other) => other !== entry)
  }

  /** `now`: must not be later than the caller's own `touchedAt`. */
  function dropLost(now: number): void {
    for (const entry of entries) if (entry.touchedAt < now - limits.lostMs) leave(entry)
  }

  /** First come, first served: within an address, and among uploads that wait only for memory. */
  function canStart(entry: Entry): boolean {
    if (!isWithinShare(entry) || held + entry.bytes > limits.draftBytes) return false
    const stalled = new Set<string>()
    for (const earlier of entries) {
      if (earlier === entry) break
      if (earlier.isReading) continue
      if (earlier.address === entry.address) return false
      if (earlier.isStalled) stalled.add(earlier.address)
      else if (!stalled.has(earlier.address) && isWithinShare(earlier)) return false
    }
    return true
  }

  /**
   * A part of the memory is reserved for networks without an upload being read. So one network that uploads as slowly as
   * possible cannot lock others out.
   */
  function isWithinShare({ address, network, bytes }: Entry): boolean {
    if ((ofAddress.get(address) ?? 0) >= maxPerAddress) return false
    return held + bytes <= limits.draftBytes - limits.reservedBytes || !ofNetwork.has(network)
  }

  async function enter<Admitted>(
    entry: Entry,
    client: Client,
    admit: () => Promise<Admitted | null>,
  ): Promise<Admitted> {
    const waiting = entries.filter(({ isReading }) => !isReading)
    const sharing = (of: 'address' | 'network') => waiting.filter((other) => other[of] === entry[of]).length
    if (
      sharing('address') >= limits.maxWaitingPerAddress ||
      sharing('network') >= limits.waiting / 2 ||
      waiting.length >= limits.waiting
    ) {
      throw new Refusal('busy', FULL)
    }
    let isGone = false
    const stopListening = client.onDisconnect(() => {
      isGone = true
    })
    const deadline = Date.now() + limits.waitMs
    entries.push(entry)
    try {
      for (let retryMs = limits.firstRetryMs, notBefore = 0; ; await sleep(limits.pollMs)) {
        const now = Date.now()
        entry.touchedAt = now
        dropLost(now)
        if (isGone)
          throw new Refusal(
            'malformed-multipart',
            'The connection was lost before the request body was complete.',
          )
        if (now >= notBefore && canStart(entry)) {
          setReading(entry, true)
          const admitted = await admit()
          if (admitted !== null) return admitted
          setReading(entry, false)
          entry.isStalled = true
          notBefore = Date.now() + retryMs
          retryMs = Math.min(limits.maxRetryMs, retryMs * 2)
        }
        if (now > deadline) throw new Refusal('busy', TOO_LONG)
      }
    } catch (error) {
      leave(entry)
      throw error
    } finally {
      stopListening()
    }
  }

  return {
    queueFor(bytes) {
      let entry: Entry | undefined
      return {
        async enter(client, admit) {
          const ownEntry: Entry = {
            address: client.address,
            network: client.network,
            bytes: Math.min(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES, limits.draftBytes),
            isReading: false,
            isStalled: false,
            touchedAt: Date.now(),
          }
          entry = ownEntry
          const admitted = await enter(ownEntry, client, admit)
          return { admitted, end: () => leave(ownEntry) }
        },
        touch() {
          if (entry !== undefined) entry.touchedAt = Date.now()
        },
      }
    },
    heldBytes: () => held,
  }
}

function count(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const total = (counts.get(name) ?? 0) + change
  if (total > 0) counts.set(name, total)
  else counts.delete(name)
}
