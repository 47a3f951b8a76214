/**
 * The line in which uploads wait, unread, until the isolate has memory for their drafts. Isolates come and go, and requests
 * of one may be cut off without a word, so none ever waits for another's promise: each looks for itself whether it is its
 * turn, and what a lost one held is free after a while.
 */
import { sleep } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { Client, Line } from '../service/quota/line.ts'
import { BLOCK_BYTES } from '../stores/r2/draft.ts'
import type { Limits } from './limits.ts'

interface Place {
  readonly address: string
  /** Memory that its draft may take. */
  readonly bytes: number
  isReading: boolean
  /** It depends on uploads of its address that have not ended. */
  isStalled: boolean
  touchedAt: number
}

export interface Places {
  /** The line as one upload sees it. `bytes`: that its body says it has, or may have. */
  lineFor(bytes: number): Line & { touch(): void }
  /** Memory of drafts that are received or stored now. */
  heldBytes(): number
  /** The most that it ever was. */
  mostBytes(): number
}

const TOO_LONG = 'This upload waited too long for its turn. Please try again in a moment.'
const FULL = 'This server has as many uploads waiting as it can keep. Please try again in a moment.'

/** `uploadsAtOnce`: of one address. */
export function createPlaces(limits: Limits, uploadsAtOnce: number): Places {
  /** In order of arrival. */
  let places: Place[] = []
  // Counted along: hundreds look often.
  let held = 0
  let most = 0
  let reading = 0
  const readingOf = new Map<string, number>()

  function setReading(place: Place, isReading: boolean): void {
    if (place.isReading === isReading) return
    place.isReading = isReading
    const one = isReading ? 1 : -1
    reading += one
    held += one * place.bytes
    most = Math.max(most, held)
    const ofAddress = (readingOf.get(place.address) ?? 0) + one
    if (ofAddress > 0) readingOf.set(place.address, ofAddress)
    else readingOf.delete(place.address)
  }

  function leave(place: Place): void {
    setReading(place, false)
    places = places.filter((other) => other !== place)
  }

  /** `now`: not later than when the caller's own place was touched. */
  function dropLost(now: number): void {
    for (const place of places) if (place.touchedAt < now - limits.lostMs) leave(place)
  }

  /** First come, first served: of an address, and of those that only lack memory. */
  function hasTurn(place: Place): boolean {
    if (!hasSeat(place.address) || held + place.bytes > limits.draftBytes) return false
    for (const earlier of places) {
      if (earlier === place) break
      if (earlier.isReading) continue
      if (earlier.address === place.address || (!earlier.isStalled && hasSeat(earlier.address))) return false
    }
    return true
  }

  function hasSeat(address: string): boolean {
    return (readingOf.get(address) ?? 0) < uploadsAtOnce
  }

  async function enter<Admitted>(
    place: Place,
    client: Client,
    admit: () => Promise<Admitted | null>,
  ): Promise<Admitted> {
    const waiting = places.filter(({ isReading }) => !isReading)
    const ofAddress = waiting.filter(({ address }) => address === place.address)
    if (ofAddress.length >= limits.waitingOfAddress || waiting.length >= limits.waiting) {
      throw new Refusal('busy', FULL)
    }
    let isGone = false
    const ignore = client.onGone(() => {
      isGone = true
    })
    const until = Date.now() + limits.waitMs
    places.push(place)
    try {
      for (let retryMs = limits.firstRetryMs, notBefore = 0; ; await sleep(limits.lookMs)) {
        const now = Date.now()
        place.touchedAt = now
        dropLost(now)
        if (isGone) throw new Refusal('malformed-multipart', 'The connection was lost before the body ended.')
        if (now >= notBefore && hasTurn(place)) {
          setReading(place, true)
          const admitted = await admit()
          if (admitted !== null) return admitted
          setReading(place, false)
          place.isStalled = true
          notBefore = Date.now() + retryMs
          retryMs = Math.min(limits.lastRetryMs, retryMs * 2)
        }
        if (now > until) throw new Refusal('busy', TOO_LONG)
      }
    } catch (error) {
      leave(place)
      throw error
    } finally {
      ignore()
    }
  }

  return {
    lineFor(bytes) {
      let place: Place | undefined
      return {
        async enter(client, admit) {
          const taken: Place = {
            address: client.address,
            bytes: Math.min(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES, limits.draftBytes),
            isReading: false,
            isStalled: false,
            touchedAt: Date.now(),
          }
          place = taken
          const admitted = await enter(taken, client, admit)
          return { admitted, end: () => leave(taken) }
        },
        counts: () => ({ reading, waiting: places.length - reading }),
        touch() {
          if (place !== undefined) place.touchedAt = Date.now()
        },
      }
    },
    heldBytes: () => held,
    mostBytes: () => most,
  }
}
