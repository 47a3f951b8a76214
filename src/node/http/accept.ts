/**
 * Accepts connections within limits, per address and in total. Past a limit, a new connection replaces the longest-idle one.
 * While all are busy, new connections wait unread in a bounded queue (docs/decisions/059).
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createIntervalJob } from '../../async.ts'
import { quotaAddress, type TrustedProxies } from '../../http/headers/client-address.ts'
import type { Limits } from './limits.ts'

export interface Accepting {
  /** Wraps the server's request listener to track in-flight answers. */
  tracking(listener: RequestListener): RequestListener
  /** Closes keep-alive connections that wait for the next request, and connections silent for `settleMs` since they arrived. */
  closeIdle(): void
  /** Closes all waiting connections. */
  stop(): void
}

/** All connections of one address. */
interface Share {
  address: string
  max: number
  open: Set<Connection>
  /** In order of arrival. */
  waiting: { socket: Socket; since: number }[]
}

/** A connection being served. Times are of `performance.now()`. */
interface Connection {
  socket: Socket
  share: Share
  /** Answers not yet sent completely. */
  inFlight: Set<ServerResponse>
  /** Bytes received when the last answer was finished: more bytes are the beginning of a request. Unit: bytes. */
  received: number
  /** `Infinity` until the socket is read. */
  idleSince: number
}

/** Stored on the socket itself: a `WeakMap` that changes with every connection makes work for each garbage collection. */
const connectionState = Symbol('connection state')
type Tracked = Socket & { [connectionState]?: Connection }

/** Connections per address that are read as soon as they are admitted: a few browsers, or `UPLOADS_AT_ONCE` uploads. */
const READ_IMMEDIATELY = 16

/** Check interval while connections wait. Unit: milliseconds. */
const CHECK_MS = 250

/**
 * Must be called after all of the server's own `connection` listeners were added. `maxOfAddress`: 0 for no limit. Trusted
 * proxies have no limit either: the client's address is unknown before a request arrives. `startLater` schedules the first
 * read of an address's connections past `READ_IMMEDIATELY`; `refuse` answers a connection that waited too long.
 */
export function createAcceptor(
  server: Server,
  {
    maxOfAddress,
    trusted,
    limits,
    startLater,
    refuse,
  }: {
    maxOfAddress: number
    trusted: TrustedProxies
    limits: Pick<
      Limits,
      'connections' | 'connectionsWaiting' | 'maxWaitingConnections' | 'connectionWaitMs' | 'settleMs'
    >
    startLater: (start: () => void, socket: Socket) => void
    refuse: (socket: Socket) => void
  },
): Accepting {
  const shares = new Map<string, Share>()
  /** Addresses with waiting connections, in round-robin order. */
  const crowded = new Set<Share>()
  let open = 0
  let waiting = 0

  // A waiting socket must not be read: its bytes stay in the kernel.
  ;(server as unknown as { pauseOnConnect: boolean }).pauseOnConnect = true
  const serving = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', onConnection)

  function shareOf(socket: Socket): Share {
    const peer = socket.remoteAddress ?? ''
    const isUnlimited = maxOfAddress === 0 || trusted.has(peer)
    const address = isUnlimited ? `any ${peer}` : quotaAddress(peer)
    let share = shares.get(address)
    if (share === undefined) {
      const max = isUnlimited ? Number.POSITIVE_INFINITY : maxOfAddress
      share = { address, max, open: new Set(), waiting: [] }
      shares.set(address, share)
    }
    return share
  }

  function isContended({ share }: Connection): boolean {
    return crowded.size > 0 && (crowded.has(share) || open >= limits.connections)
  }

  function hasRoom(share: Share): boolean {
    return open < limits.connections && share.open.size < share.max
  }

  function onConnection(socket: Socket): void {
    const share = shareOf(socket)
    if (share.waiting.length === 0 && hasRoom(share)) {
      admit(socket, share)
      return
    }
    if (share.waiting.length >= limits.connectionsWaiting || !makeRoomInQueue(share)) {
      socket.destroy()
      forgetIfEmpty(share)
      return
    }
    // An unhandled error event would crash the process.
    socket.on('error', () => {})
    share.waiting.push({ socket, since: performance.now() })
    waiting++
    if (share.waiting.length > 1) return
    crowded.add(share)
    // Sends `Connection: close`, so that these closes don't race with the client's next request.
    for (const { inFlight } of share.open) for (const outgoing of inFlight) outgoing.shouldKeepAlive = false
    // At the end of this tick, when everything that clients have sent by now has been read.
    setImmediate(makeRoom)
    checks.start()
  }

  /** When the queue is full, evicts from the address with the longest queue, unless `share` would then have a longer one. */
  function makeRoomInQueue(share: Share): boolean {
    if (waiting < limits.maxWaitingConnections) return true
    let longest = share
    for (const other of crowded) if (other.waiting.length > longest.waiting.length) longest = other
    if (longest.waiting.length <= share.waiting.length + 1) return false
    longest.waiting.pop()!.socket.destroy()
    waiting--
    return true
  }

  function admit(socket: Socket, share: Share): void {
    const connection: Connection = {
      socket,
      share,
      inFlight: new Set(),
      received: 0,
      idleSince: Number.POSITIVE_INFINITY,
    }
    ;(socket as Tracked)[connectionState] = connection
    share.open.add(connection)
    open++
    socket.once('close', () => {
      const wasFull = open === limits.connections
      share.open.delete(connection)
      open--
      forgetIfEmpty(share)
      if (!wasFull) admitNext(share)
      else for (const next of [...crowded]) if (admitNext(next)) return
    })
    for (const serve of serving) serve.call(server, socket)
    const start = () => {
      connection.idleSince = performance.now()
      socket.resume()
    }
    if (share.open.size > READ_IMMEDIATELY) startLater(start, socket)
    else start()
  }

  function forgetIfEmpty(share: Share): void {
    if (share.waiting.length > 0) return
    crowded.delete(share)
    if (share.open.size === 0) shares.delete(share.address)
    if (crowded.size > 0) return
    void checks.stop()
  }

  /** Admits the longest-waiting connection of `share`, if there is room. Returns whether it did. */
  function admitNext(share: Share): boolean {
    if (share.waiting.length === 0 || !hasRoom(share)) return false
    const { socket } = share.waiting.shift()!
    waiting--
    crowded.delete(share)
    if (share.waiting.length > 0) crowded.add(share)
    // Before `forgetIfEmpty`: a share without connections is dropped, and later ones of its address would be counted from zero.
    admit(socket, share)
    forgetIfEmpty(share)
    return true
  }

  /** Closes as many idle connections as there are waiting ones. */
  function makeRoom(): void {
    const now = performance.now()
    for (const share of [...crowded]) {
      if (share.open.size >= share.max) closeLongestIdle([...share.open], share.waiting.length, now)
    }
    if (waiting === 0 || open < limits.connections) return
    closeLongestIdle(
      [...shares.values()].flatMap((share) => [...share.open]),
      waiting,
      now,
    )
  }

  function isIdle({ socket, inFlight, received }: Connection): boolean {
    return inFlight.size === 0 && socket.bytesRead === received
  }

  function isSettled({ idleSince }: Connection, now: number): boolean {
    return now - idleSince >= limits.settleMs
  }

  function closeLongestIdle(connections: Connection[], max: number, now: number): void {
    const idle = connections.filter((each) => isIdle(each) && isSettled(each, now))
    idle.sort((a, b) => a.idleSince - b.idleSince)
    for (const { socket } of idle.slice(0, max)) socket.destroy()
  }

  function check(): void {
    const cutoff = performance.now() - limits.connectionWaitMs
    for (const share of [...crowded]) {
      while (share.waiting[0] !== undefined && share.waiting[0].since < cutoff) {
        const { socket } = share.waiting.shift()!
        waiting--
        refuse(socket)
      }
      forgetIfEmpty(share)
    }
    makeRoom()
  }

  // At the end of a tick, when everything that clients have sent by then has been read.
  const checks = createIntervalJob(
    () => void setImmediate(check),
    CHECK_MS,
    () => {},
    { isFirstDone: true },
  )

  // Node's diagnostics channel: needs no listener on each answer.
  const finish = (message: unknown): void => {
    const { response, socket } = message as { response: ServerResponse; socket: Tracked }
    const connection = socket[connectionState]
    if (connection === undefined || !connection.inFlight.delete(response)) return
    connection.received = socket.bytesRead
    connection.idleSince = performance.now()
  }
  subscribe('http.server.response.finish', finish)
  server.once('close', () => {
    unsubscribe('http.server.response.finish', finish)
    void checks.stop()
  })

  return {
    tracking:
      (listener) => (incoming: IncomingMessage, outgoing: ServerResponse & { req: IncomingMessage }) => {
        const connection = (incoming.socket as Tracked)[connectionState]
        if (connection !== undefined) {
          connection.inFlight.add(outgoing)
          if (isContended(connection)) outgoing.shouldKeepAlive = false
        }
        listener(incoming, outgoing)
      },
    closeIdle() {
      const now = performance.now()
      for (const { open } of shares.values()) {
        for (const each of open) {
          const isAnswered = each.received > 0
          if (isIdle(each) && (isAnswered || isSettled(each, now))) each.socket.destroy()
        }
      }
    },
    stop() {
      for (const share of [...crowded]) {
        for (const { socket } of share.waiting.splice(0)) socket.destroy()
        forgetIfEmpty(share)
      }
      waiting = 0
    },
  }
}
