/**
 * Guard against bodies in chunks of a few bytes: each costs as much to parse as a large one, and no ordinary client sends
 * them (docs/decisions/014).
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Least average size of a chunk. It costs 2 µs to parse, however small; ordinary clients send a packet's worth at a time. */
export const MIN_AVERAGE_BYTES = 64
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

/** Ends a connection in the middle of what one read brought. */
export type Cut = (socket: Socket) => void

/**
 * Cuts off the connection of a body in small chunks. To be called as soon as its request is known: Node keeps what comes
 * before anybody reads, chunk by chunk. `push` sees all that the parser finds of a body, read or not.
 */
export function guardSmallChunks(incoming: IncomingMessage, cut: Cut = cutOff): void {
  const { socket } = incoming
  const push = incoming.push
  let free = FREE_CHUNKS_OF_A_BODY
  incoming.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
    if (chunk !== null && --free < 0 && isAbuse(socket, chunk.length)) cut(socket)
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
  return counted.chunks > FREE_CHUNKS && counted.bytes < counted.chunks * MIN_AVERAGE_BYTES
}

/** The plain way: the parser goes on to the end of the read, up to 64 KiB, and makes an object of each chunk or request. */
export const destroy: Cut = (socket) => {
  socket.destroy()
}

/** The fast way: what has come already makes no request and no piece of a body any more. */
export const cutOff: Cut = (socket) => {
  stopParsing(socket)
  socket.destroy()
}

interface ParsedSocket extends Socket {
  parser?: { remove?(): void } | null
}

/**
 * Stops a socket's parser behind the callback that it is in: 1 ms instead of 12 for a read. Node calls the same when it lets go of
 * a parser, perhaps in the middle of a read, and initializes it before it serves another connection. A parser that has no
 * `remove`, or of a Node before 24.15, goes on.
 */
export function stopParsing(socket: Socket): void {
  ;(socket as ParsedSocket).parser?.remove?.()
}
