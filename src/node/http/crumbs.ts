/** Bodies in chunks of a few bytes. Nobody who means well sends them, and each costs as much as a large one. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { cutOff } from './cut-off.ts'

/** A chunk costs 2 µs to parse, however small. Clients that mean well send a packet's worth at a time. */
export const LEAST_AVERAGE_BYTES = 64
/** Undersized chunks allowed per connection. */
export const FREE_CHUNKS = 256
/** The first of each body: what is small may be sent as it comes. A request costs more than they do. */
export const FREE_CHUNKS_OF_A_BODY = 8

/** Past those that are free. */
interface Counted {
  chunks: number
  bytes: number
}

const counts = new WeakMap<Socket, Counted>()

/**
 * Cuts off the connection of a body in crumbs. To be called as soon as its request is known: what comes before anybody
 * reads is kept by Node, chunk by chunk.
 */
export function cutOffCrumbs(incoming: IncomingMessage): void {
  const { socket } = incoming
  const push = incoming.push
  let free = FREE_CHUNKS_OF_A_BODY
  // Every chunk that the parser finds comes through here, read or not.
  incoming.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
    if (chunk !== null && --free < 0 && isAbsurd(socket, chunk.length)) cutOff(socket)
    return push.call(incoming, chunk, encoding)
  }
}

function isAbsurd(socket: Socket, bytes: number): boolean {
  let counted = counts.get(socket)
  if (counted === undefined) {
    counted = { chunks: 0, bytes: 0 }
    counts.set(socket, counted)
  }
  counted.chunks++
  counted.bytes += bytes
  return counted.chunks > FREE_CHUNKS && counted.bytes < counted.chunks * LEAST_AVERAGE_BYTES
}
