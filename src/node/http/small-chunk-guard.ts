/**
 * Guards against bodies in chunks of a few bytes: each costs as much to parse as a large one, and no ordinary client sends them
 * (docs/decisions/014).
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Minimum average chunk size. A chunk costs 2 µs to parse, however small; ordinary clients send a packet at a time. */
export const MIN_AVERAGE_BYTES = 64
/** Undersized chunks allowed per connection. */
export const FREE_CHUNKS = 256
/**
 * First chunks of each body that are not counted: a small form may arrive in several of them, and costs less than its
 * request.
 */
export const FREE_CHUNKS_PER_BODY = 8

/** A connection's chunks past the free ones. */
interface Counted {
  chunks: number
  bytes: number
}

const counts = new WeakMap<Socket, Counted>()

/**
 * Cuts off connections that send a body in small chunks. Must be called as soon as the request is known: Node keeps chunks that
 * arrive before the body is read. `push` sees every body chunk that the parser finds, read or not.
 */
export function guardSmallChunks(incoming: IncomingMessage): void {
  const { socket } = incoming
  const push = incoming.push
  let free = FREE_CHUNKS_PER_BODY
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
  return counted.chunks > FREE_CHUNKS && counted.bytes < counted.chunks * MIN_AVERAGE_BYTES
}

/** Bytes already received produce no more requests or body chunks. */
export function cutOff(socket: Socket): void {
  stopParsing(socket)
  socket.destroy()
}

interface ParsedSocket extends Socket {
  parser?: { remove?(): void } | null
}

/**
 * Stops a socket's parser after the current callback: 1 ms instead of 12 for a read. Node itself calls this when it releases
 * a parser, possibly in the middle of a read, and reinitializes the parser before it serves another connection. A parser
 * without `remove`, or of a Node before 24.15, continues.
 */
export function stopParsing(socket: Socket): void {
  ;(socket as ParsedSocket).parser?.remove?.()
}
