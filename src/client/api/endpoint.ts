import { fetchTransport } from './fetch.ts'
import { type Clock, realClock } from './retry.ts'
import type { Transport } from './transport.ts'
import { xhrTransport } from './xhr.ts'

/** A service and the means to reach it. */
export interface Endpoint {
  /** Absolute URL of a path on the service. */
  address(path: string): string
  transport: Transport
  clock: Clock
}

/** `baseUrl` defaults to the page's origin. Throws a `TypeError` if there is none, or if it is not an http(s) URL. */
export function endpointOf(baseUrl = globalThis.location?.origin): Endpoint {
  if (baseUrl === undefined) throw new TypeError('baseUrl is missing: the address of the Pinhole service')
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (base === null || !/^https?:$/.test(base.protocol)) {
    throw new TypeError(`baseUrl is not an http or https URL: ${baseUrl}`)
  }
  const root = base.origin + base.pathname.replace(/\/$/, '')
  return {
    address: (path) => root + path,
    transport: typeof XMLHttpRequest === 'function' ? xhrTransport : fetchTransport,
    clock: realClock,
  }
}
