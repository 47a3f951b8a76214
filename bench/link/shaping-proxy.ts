/** A line between browser and server: so many bits a second each way, and half of a round trip each way. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface ShapingProxy {
  port: number
  /** Where connections go to. */
  targetPort: number
  bitsPerSecond: number
  close(): Promise<void>
}

const ROUND_TRIP_MS = 40
/** What a full line takes at a time: two packets of Ethernet. Unit: bytes. */
const PIECE_BYTES = 3000
/** Held for one direction of a connection; then its sender waits, as for a full window. Unit: bytes. */
const MAX_HELD_BYTES = 256 * 1024

export async function startShapingProxy(bitsPerSecond: number): Promise<ShapingProxy> {
  const sockets = new Set<Socket>()
  const proxy: ShapingProxy = { port: 0, targetPort: 0, bitsPerSecond, close }
  const [up, down] = [direction(proxy), direction(proxy)]
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ port: proxy.targetPort, host: '127.0.0.1', allowHalfOpen: true })
    for (const [from, to, way] of [
      [client, target, up],
      [target, client, down],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        // Behind what is still on its way.
        setTimeout(() => to.destroySoon(), way(0) + ROUND_TRIP_MS / 2 - performance.now())
      })
      carry(from, to, way)
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

/** When bytes that are handed over now have left: all connections of a direction share the line. */
function direction(line: { bitsPerSecond: number }): (bytes: number) => number {
  let free = 0
  return (bytes) => {
    free = Math.max(free, performance.now()) + (8000 * bytes) / line.bitsPerSecond
    return free
  }
}

function carry(from: Socket, to: Socket, leaves: (bytes: number) => number): void {
  let held = 0
  /** In their order, which timers of different lengths do not keep. `null`: the end. */
  const pieces: (Buffer | null)[] = []
  const send = (piece: Buffer | null) => {
    pieces.push(piece)
    const at = leaves(piece?.length ?? 0) + ROUND_TRIP_MS / 2
    setTimeout(arrive, at - performance.now())
  }
  const arrive = () => {
    const piece = pieces.shift()
    if (to.destroyed) return
    if (!piece) return to.end()
    to.write(piece)
    held -= piece.length
    if (held <= MAX_HELD_BYTES / 2) from.resume()
  }
  from.on('data', (bytes: Buffer) => {
    held += bytes.length
    if (held > MAX_HELD_BYTES) from.pause()
    for (let start = 0; start < bytes.length; start += PIECE_BYTES)
      send(bytes.subarray(start, start + PIECE_BYTES))
  })
  from.on('end', () => send(null))
}
