/** Fault injection between Pinhole and an object store. */

export interface RequestFacts {
  method: string
  /** Empty for the bucket itself. */
  key: string
  query: URLSearchParams
  headers: Record<string, string>
}

export type Fault =
  /** Sends this response instead of executing the request. */
  | { kind: 'answer'; status: number; code?: string; body?: string; headers?: Record<string, string> }
  /** Answers late. */
  | { kind: 'delay'; ms: number }
  /** Never answers. */
  | { kind: 'hang' }
  /** Closes the connection without executing the request. */
  | { kind: 'reset' }
  /** Executes the request, then closes the connection instead of answering. */
  | { kind: 'lose-reply' }
  /** Closes the connection after this many bytes of the response body. */
  | { kind: 'cut-answer'; afterBytes: number }
  /** Stalls after this many bytes of the response body, with the connection open. */
  | { kind: 'stall-answer'; afterBytes: number }
  /** Flips a bit in the middle of the response body. */
  | { kind: 'flip-answer' }
  /** Shortens the response body, with a matching Content-Length. */
  | { kind: 'shorten-answer'; byBytes: number }
  /** Flips a bit of the request body before its checksums are verified. */
  | { kind: 'flip-request' }
  /** Answers a range request with the whole object. */
  | { kind: 'ignore-range' }
  /** Executes a put even if its condition is not met. */
  | { kind: 'ignore-condition' }

export interface Faults {
  /** Injects `fault` into the next `times` requests that match `on`. */
  add(fault: Fault, options?: { times?: number; on?: (request: RequestFacts) => boolean }): void
  clear(): void
  /** The fault that this request would get. */
  next(request: RequestFacts): Fault | null
  /** The same, and counts it as used. */
  take(request: RequestFacts): Fault | null
}

export function createFaults(): Faults {
  let pending: { fault: Fault; times: number; on: (request: RequestFacts) => boolean }[] = []
  return {
    add(fault, { times = 1, on = () => true } = {}) {
      pending.push({ fault, times, on })
    },
    clear() {
      pending = []
    },
    next: (request) => pending.find(({ on }) => on(request))?.fault ?? null,
    take(request) {
      const next = pending.find(({ on }) => on(request))
      if (next === undefined) return null
      next.times--
      if (next.times === 0) pending = pending.filter((each) => each !== next)
      return next.fault
    },
  }
}
