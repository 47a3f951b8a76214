/** Guard against bodies in chunks of a few bytes: each costs as much to parse as a large one, and no ordinary client sends them. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { cutOff } from './cut-off.ts'

/** Least average size of a chunk. It costs 2 µs to parse, however small; ordinary clients send a packet's worth at a time. */
export const LEAST_AVERAGE_BYTES = 64
/** Undersized chunks allowed per connection. */
export const FREE_CHUNKS = 256
/** First chunks of each body that are not counted: a small form may come piece by piece, and costs less than its request. */
export const FREE_CHUNKS_OF_A_BODY = 8

/** Chunks of a connection, past those that are free. */
interface Counted {
  chunks: number
  bytes: number
}

const counts = new WeakMap<Socket, Counted>()

/**
 * Cuts off the connection of a body in small chunks. To be called as soon as its request is known: Node keeps what comes
 * before anybody reads, chunk by chunk.
 */
export function guardSmallChunks(incoming: IncomingMessage): void {
  const { socket } = incoming
  const push = incoming.push
  let free = FREE_CHUNKS_OF_A_BODY
  // Every chunk that the parser finds comes through here, read or not.
  incoming.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
    if (chunk !== null && --free < 0 && isAbuse(socket, chunk.length)) cutOff(socket)
    return push.call(incoming, chunk, encoding)
  }
}

function isAbuse(socket: Socket, bytes: number): boolean {
  let counted = counts.get(socket)
  if (counted === undefined) {
    counted = { chunks: 0, bytes: 0 }
    counts.set(socket, counted)
  }
  counted.chunks++
  counted.bytes += bytes
  return counted.chunks > FREE_CHUNKS && counted.bytes < counted.chunks * LEAST_AVERAGE_BYTES
}
