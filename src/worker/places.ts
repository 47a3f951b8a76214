/**
 * The line in which uploads wait, unread, until the isolate has memory for their drafts. Isolates come and go, and requests
 * of one may be cut off without a word, so none ever waits for another's promise: each looks for itself whether it is its
 * turn, and what a lost one held is free after a while.
 */
import { sleep } from '../async.ts'
import { Refusal } from '../errors.ts'
import type { Client, Line } from '../service/quota/line.ts'
import type { Limits } from './limits.ts'

interface Place {
  readonly address: string
  /** That its draft may take. */
  readonly bytes: number
  isReading: boolean
  /** It depends on uploads of its address that have not ended. */
  isStalled: boolean
  touchedAt: number
}

export interface Places {
  /** The line as one upload sees it. `bytes`: that its body says it has, or may have. */
  lineFor(bytes: number): Line & { touch(): void }
  /** Of drafts that are received or stored now. */
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
  let most = 0

  const reading = () => places.filter(({ isReading }) => isReading)
  const heldBytes = () => reading().reduce((sum, { bytes }) => sum + bytes, 0)

  function leave(place: Place): void {
    places = places.filter((other) => other !== place)
  }

  function dropLost(): void {
    const since = Date.now() - limits.lostMs
    if (places.some(({ touchedAt }) => touchedAt < since)) {
      places = places.filter(({ touchedAt }) => touchedAt >= since)
    }
  }

  /** First come, first served: of an address, and of those that only lack memory. */
  function hasTurn(place: Place): boolean {
    const earlier = places.slice(0, places.indexOf(place)).filter(({ isReading }) => !isReading)
    const isBehind = earlier.some(
      ({ address, isStalled }) => address === place.address || (!isStalled && hasSeat(address)),
    )
    return !isBehind && hasSeat(place.address) && heldBytes() + place.bytes <= limits.draftBytes
  }

  function hasSeat(of: string): boolean {
    return reading().filter(({ address }) => address === of).length < uploadsAtOnce
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
        dropLost()
        if (isGone) throw new Refusal('malformed-multipart', 'The connection was lost before the body ended.')
        if (now >= notBefore && hasTurn(place)) {
          place.isReading = true
          most = Math.max(most, heldBytes())
          const admitted = await admit()
          if (admitted !== null) return admitted
          place.isReading = false
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
            bytes: Math.min(bytes, limits.draftBytes),
            isReading: false,
            isStalled: false,
            touchedAt: Date.now(),
          }
          place = taken
          const admitted = await enter(taken, client, admit)
          return { admitted, end: () => leave(taken) }
        },
        counts: () => ({ reading: reading().length, waiting: places.length - reading().length }),
        touch() {
          if (place !== undefined) place.touchedAt = Date.now()
        },
      }
    },
    heldBytes,
    mostBytes: () => most,
  }
}
