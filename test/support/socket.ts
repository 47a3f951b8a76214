/** HTTP/1.1 over a raw socket, for requests that no client library would send. */
import net from 'node:net'
import { type Answer, answerOf } from './http.ts'
import { PATIENT_MS } from './until.ts'

export interface Conversation {
  socket: net.Socket
  /** Resolves once the bytes are handed to the kernel. Rejects if the peer is gone. */
  write(bytes: string | Uint8Array): Promise<void>
  /** The next complete response other than 1xx. Rejects if the connection ends first. */
  answer(options?: { toHead?: boolean }): Promise<Answer>
  /** Resolves when the peer has closed the connection, with or without a reset. */
  closed: Promise<void>
  close(): void
}

/** `from`: local address of the connection. */
export async function converse(url: string, timeoutMs = PATIENT_MS, from?: string): Promise<Conversation> {
  const { hostname, port } = new URL(url)
  const socket = net.connect({ host: hostname, port: Number(port), ...(from && { localAddress: from }) })
  socket.setNoDelay(true)
  const received = createReceived()
  let endReason: Error | undefined
  let wake = () => {}
  const finish = (reason: Error) => {
    endReason ??= reason
    wake()
  }
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`silence for ${timeoutMs} ms`)))
  socket.on('data', (piece: Buffer) => {
    received.add(piece)
    wake()
  })
  socket.on('error', finish)
  socket.on('end', () => finish(new Error('the connection ended before the response was complete')))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  closed.then(() => finish(new Error('the connection closed before the response was complete')))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return {
    socket,
    closed,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()))
      }),
    async answer({ toHead = false } = {}) {
      for (;;) {
        const parsed = parse(received.bytes(), toHead, endReason !== undefined)
        if (parsed) {
          received.consume(parsed.length)
          if (parsed.answer.status >= 200) return parsed.answer
          continue
        }
        if (endReason) throw endReason
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    close: () => socket.destroy(),
  }
}

/** One chunk of a body with `Transfer-Encoding: chunked` (RFC 9112, 7.1). Without bytes, the last one. */
export function chunkOf(bytes: Uint8Array | string = ''): Buffer {
  const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')])
}

/** Unconsumed bytes, in a contiguous buffer that grows by doubling, since a response may have many megabytes. */
function createReceived() {
  let memory = Buffer.alloc(0)
  let start = 0
  let end = 0
  return {
    add(piece: Buffer) {
      if (end + piece.length > memory.length) {
        // A new buffer, since responses already returned share memory with the old one.
        const larger = Buffer.allocUnsafe(2 * (end - start + piece.length))
        end = memory.copy(larger, 0, start, end)
        start = 0
        memory = larger
      }
      end += piece.copy(memory, end)
    },
    bytes: () => memory.subarray(start, end),
    consume(length: number) {
      start += length
    },
  }
}

/** Parses one response at the start of `bytes`. `null` if it is incomplete. */
function parse(bytes: Buffer, toHead: boolean, ended: boolean): { answer: Answer; length: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const [first, ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first!)?.[1])
  if (!status) throw new Error(`not an HTTP response: ${first}`)
  const raw = lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const start = headEnd + 4
  const whole = (body: Buffer, length: number) => ({ answer: answerOf(status, raw, body), length })
  const { headers } = answerOf(status, raw, Buffer.alloc(0))
  if (toHead || status < 200 || status === 204 || status === 304) return whole(Buffer.alloc(0), start)
  const length = headers.get('Content-Length')
  if (length !== null) {
    const end = start + Number(length)
    return bytes.length < end ? null : whole(bytes.subarray(start, end), end)
  }
  if (headers.get('Transfer-Encoding') === 'chunked') {
    const chunks = dechunk(bytes, start)
    return chunks && whole(chunks.body, chunks.end)
  }
  return ended ? whole(bytes.subarray(start), bytes.length) : null
}

function dechunk(bytes: Buffer, start: number): { body: Buffer; end: number } | null {
  const pieces: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return null
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16)
    const next = lineEnd + 2 + size + 2
    if (bytes.length < next) return null
    if (size === 0) return { body: Buffer.concat(pieces), end: next }
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}
