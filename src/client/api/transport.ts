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
export const MOST_ANSWER_BYTES = 64 * 1024

export function tooLong(): NetworkFault {
  return new NetworkFault('the answer is not from a Pinhole service: it is too long')
}

/**
 * A connection on which nothing moves for so long is given up: the service lets an upload wait for its turn for 30 s. Unit:
 * milliseconds.
 */
export const STALL_MS = 45_000
