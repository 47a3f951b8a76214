import type { IncomingMessage } from 'node:http'

/** Reads headers of a request by their names in lower case. Only such that Node joins when they come twice. */
export function headersOf(incoming: IncomingMessage): (name: string) => string | undefined {
  return (name) => incoming.headers[name] as string | undefined
}
