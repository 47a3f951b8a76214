/** One HTTP exchange that reports how much of its body has left. `xhr.ts` and `fetch.ts` implement it. */

export interface Exchange {
  method: 'POST' | 'DELETE' | 'HEAD' | 'GET'
  url: string
  /** Besides `Accept`. */
  headers?: Record<string, string>
  /** Sent as the one form field of a multipart body. */
  file?: { field: string; name: string; blob: Blob }
  signal?: AbortSignal | undefined
  /** Unit: bytes of the body. */
  onSent?: (sentBytes: number, totalBytes: number) => void
}

export interface Answer {
  status: number
  /** `null` if absent. */
  header(name: string): string | null
  text: string
}

/**
 * Resolves for every answer, whatever its status. Rejects with a `NetworkFault` if none came, or with the signal's
 * reason.
 */
export type Transport = (exchange: Exchange) => Promise<Answer>

/** No answer: the connection failed, was cut, or stood still. Trying again may help. */
export class NetworkFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NetworkFault'
  }
}

/** A service answers with less than a kilobyte. What sends more is none, and is read no further. */
export const MAX_ANSWER_BYTES = 64 * 1024

export function tooLong(): NetworkFault {
  return new NetworkFault('the answer is not from a Pinhole service: it is too long')
}

/** A connection without progress for this long is given up: longer than the 30 s that the service may let an upload wait. */
const STALL_MS = 45_000

/** Calls `onStall` once if `touch` is not called for `STALL_MS`. */
export function watchForStall(onStall: (fault: NetworkFault) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = () => {
    timer = setTimeout(
      () => onStall(new NetworkFault(`the connection stood still for ${STALL_MS / 1000} s`)),
      STALL_MS,
    )
  }
  arm()
  return {
    /** Something moved. */
    touch() {
      // A body may go on moving after its answer came.
      if (timer === undefined) return
      clearTimeout(timer)
      arm()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
