/** What can go wrong between us and an object store, on demand. */

export interface RequestFacts {
  method: string
  /** Empty for the bucket itself. */
  key: string
  query: URLSearchParams
  headers: Record<string, string>
}

export type Fault =
  /** This answer instead of the request's own. Nothing is carried out. */
  | { kind: 'answer'; status: number; code?: string; body?: string; headers?: Record<string, string> }
  /** Answers late. */
  | { kind: 'delay'; ms: number }
  /** Never answers. */
  | { kind: 'hang' }
  /** Hangs up without having carried out the request. */
  | { kind: 'reset' }
  /** Carries out the request, then hangs up instead of answering. */
  | { kind: 'lose-reply' }
  /** Hangs up after so many bytes of the answer's body. */
  | { kind: 'cut-answer'; afterBytes: number }
  /** Sends nothing more after so many bytes of the answer's body, and keeps the connection. */
  | { kind: 'stall-answer'; afterBytes: number }
  /** Flips a bit in the middle of the answer's body. */
  | { kind: 'flip-answer' }
  /** The answer's body is shorter, and its headers say so too. */
  | { kind: 'shorten-answer'; byBytes: number }
  /** Flips a bit of the request's body before its checksums are looked at. */
  | { kind: 'flip-request' }
  /** Answers the whole where a range was asked for. */
  | { kind: 'ignore-range' }
  /** Carries out a put whose condition does not hold. */
  | { kind: 'ignore-condition' }

export interface Faults {
  /** `fault` befalls the next `times` requests that `on` picks. */
  add(fault: Fault, options?: { times?: number; on?: (request: RequestFacts) => boolean }): void
  clear(): void
  /** The fault that this request would meet. */
  next(request: RequestFacts): Fault | null
  take(request: RequestFacts): Fault | null
}

export function createFaults(): Faults {
  let waiting: { fault: Fault; times: number; on: (request: RequestFacts) => boolean }[] = []
  return {
    add(fault, { times = 1, on = () => true } = {}) {
      waiting.push({ fault, times, on })
    },
    clear() {
      waiting = []
    },
    next: (request) => waiting.find(({ on }) => on(request))?.fault ?? null,
    take(request) {
      const next = waiting.find(({ on }) => on(request))
      if (next === undefined) return null
      next.times--
      if (next.times === 0) waiting = waiting.filter((one) => one !== next)
      return next.fault
    },
  }
}
