/** Ends a connection in the middle of what one read brought. */
import type { Socket } from 'node:net'

/** Node's parser is an object of the socket's; what it calls stands under numbers. */
interface ParsedSocket extends Socket {
  parser?: Record<string, unknown> | null
}

/** What Node calls the functions that make requests and pieces of bodies of what is parsed. */
const CALLBACKS = /^parserOn/

/** Destroys the socket. What has come already makes no request and no piece of a body any more. */
export function cutOff(socket: Socket): void {
  stopParsing(socket)
  socket.destroy()
}

/**
 * Destroying or pausing takes effect after the next read: the parser goes on to the end of this one, 64 KB, and calls back
 * for each chunk of one byte. Without its callbacks it only counts: 1 ms instead of 12. Parsers are used again for other
 * connections, and Node lets go of one when the socket is closed: before that it gets its callbacks back. A parser that
 * looks different than those of Node 24 to 26 stays as it is.
 */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as ParsedSocket
  if (!parser) return
  const taken = Object.entries(parser).filter(
    ([, value]) => typeof value === 'function' && CALLBACKS.test(value.name),
  )
  if (taken.length === 0) return
  for (const [key] of taken) parser[key] = null
  socket.prependOnceListener('close', () => Object.assign(parser, Object.fromEntries(taken)))
}
