/** Uploads that are under way now, by client address. In memory alone, and of this process alone. */
import { Refusal } from '../errors.ts'

export interface UnderWay {
  /** Throws `Refusal('busy')` if as many are under way as may be. Call what it returns when this one has ended. */
  enter(address: string): () => void
  /** It has a reservation. What it returns ends that: `false` if it had ended already. */
  hold(address: string): () => boolean
  /** Whether any of them has a reservation. */
  holds(address: string): boolean
}

export function createUnderWay(atOnce: number): UnderWay {
  const counts = new Map<string, { inside: number; held: number }>()

  return {
    enter(address) {
      const count = counts.get(address) ?? { inside: 0, held: 0 }
      if (count.inside >= atOnce) {
        throw busy(
          `This address has ${atOnce} uploads under way, as many as it may at once. Please wait for one to end.`,
        )
      }
      count.inside++
      counts.set(address, count)
      return () => {
        if (--count.inside === 0) counts.delete(address)
      }
    },
    hold(address) {
      const count = counts.get(address)!
      count.held++
      let isHeld = true
      return () => {
        if (!isHeld) return false
        isHeld = false
        count.held--
        return true
      }
    },
    holds: (address) => (counts.get(address)?.held ?? 0) > 0,
  }
}

export function busy(detail: string): Refusal {
  return new Refusal('busy', detail)
}
