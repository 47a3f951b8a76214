/** One HTTP exchange with upload progress. Implemented by `xhr.ts` and `fetch.ts`. */

export interface Exchange {
  method: 'POST' | 'DELETE' | 'HEAD' | 'GET'
  url: string
  /** In addition to `Accept`. */
  headers?: Record<string, string>
  /** Sent as the only form field of a multipart body. */
  file?: { field: string; name: string; blob: Blob }
  signal?: AbortSignal | undefined
  /** Upload progress. Unit: bytes of the body. */
  onSent?: (sentBytes: number, totalBytes: number) => void
}

export interface Answer {
  status: number
  /** `null` if absent. */
  header(name: string): string | null
  text: string
}

/** Resolves with any response, whatever its status. Rejects with a `NetworkFault` if there is none, or the signal's reason. */
export type Transport = (exchange: Exchange) => Promise<Answer>

/** No usable response: the connection failed or stalled, or something other than the service answered. A retry may help. */
export class NetworkFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NetworkFault'
  }
}

/** Pinhole answers with less than a kilobyte, so anything longer comes from something else and is not read to its end. */
export const MAX_ANSWER_BYTES = 64 * 1024

export function tooLong(): NetworkFault {
  return new NetworkFault('the response is too long to come from a Pinhole service')
}

/** A connection that makes no progress for this long is aborted. Longer than the 30 s that an upload may queue in the service. */
const STALL_MS = 45_000

/** Calls `onStall` once if `touch` is not called for `STALL_MS`. */
export function watchForStall(onStall: (fault: NetworkFault) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = () => {
    timer = setTimeout(
      () => onStall(new NetworkFault(`the connection stalled for ${STALL_MS / 1000} s`)),
      STALL_MS,
    )
  }
  arm()
  return {
    /** Reports progress. */
    touch() {
      // Body bytes may still be sent after the response arrived.
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
