/** A proxy that simulates a connection with a limited bandwidth in each direction, and a round-trip time. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface ShapingProxy {
  port: number
  /** Port of the server to forward to. */
  targetPort: number
  bitsPerSecond: number
  close(): Promise<void>
}

const ROUND_TRIP_MS = 40
/** Transmission unit when the connection is saturated: two Ethernet packets. Unit: bytes. */
const CHUNK_BYTES = 3000
/** Buffer limit per direction of a connection. Then the sender is paused, like with a full TCP window. Unit: bytes. */
const MAX_BUFFERED_BYTES = 256 * 1024

export async function startShapingProxy(bitsPerSecond: number): Promise<ShapingProxy> {
  const sockets = new Set<Socket>()
  const proxy: ShapingProxy = { port: 0, targetPort: 0, bitsPerSecond, close }
  const [up, down] = [direction(proxy), direction(proxy)]
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ port: proxy.targetPort, host: '127.0.0.1', allowHalfOpen: true })
    for (const [from, to, schedule] of [
      [client, target, up],
      [target, client, down],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        // Close only after the data in flight has arrived.
        setTimeout(() => to.destroySoon(), schedule(0) + ROUND_TRIP_MS / 2 - performance.now())
      })
      forward(from, to, schedule)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.port = (server.address() as AddressInfo).port
  return proxy

  async function close() {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
}

/** Returns when bytes sent now will have left. All connections share the bandwidth of a direction. */
function direction(link: { bitsPerSecond: number }): (bytes: number) => number {
  let freeAt = 0
  return (bytes) => {
    freeAt = Math.max(freeAt, performance.now()) + (8000 * bytes) / link.bitsPerSecond
    return freeAt
  }
}

function forward(from: Socket, to: Socket, schedule: (bytes: number) => number): void {
  let buffered = 0
  /** A queue, because timers of different lengths do not preserve the order. `null`: end of stream. */
  const chunks: (Buffer | null)[] = []
  const send = (chunk: Buffer | null) => {
    chunks.push(chunk)
    const at = schedule(chunk?.length ?? 0) + ROUND_TRIP_MS / 2
    setTimeout(arrive, at - performance.now())
  }
  const arrive = () => {
    const chunk = chunks.shift()
    if (to.destroyed) return
    if (!chunk) return to.end()
    to.write(chunk)
    buffered -= chunk.length
    if (buffered <= MAX_BUFFERED_BYTES / 2) from.resume()
  }
  from.on('data', (bytes: Buffer) => {
    buffered += bytes.length
    if (buffered > MAX_BUFFERED_BYTES) from.pause()
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES)
      send(bytes.subarray(start, start + CHUNK_BYTES))
  })
  from.on('end', () => send(null))
}
