/**
 * Accepts connections within limits, per address and in total. A new one past a limit replaces the connection that was idle
 * longest. While all are busy, new ones wait, unread, in a bounded queue (docs/decisions/059).
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createIntervalJob } from '../../async.ts'
import { quotaAddress, type TrustedProxies } from '../../http/headers/client-address.ts'
import type { Limits } from './limits.ts'

export interface Accepting {
  /** The listener of the server's requests, which are noted on their way. */
  noting(listener: RequestListener): RequestListener
  /** Closes those on which the server waits for the next request, and those that were silent for `settleMs` since they came. */
  closeIdle(): void
  /** Closes those that wait. */
  stop(): void
}

/** All connections of one address. */
interface Share {
  address: string
  most: number
  open: Set<Connection>
  /** In order of arrival. */
  waiting: { socket: Socket; since: number }[]
}

/** One that is served. Times are of `performance.now()`. */
interface Connection {
  socket: Socket
  share: Share
  /** Answers that are not out yet. */
  owed: Set<ServerResponse>
  /** What had been received when the last answer was out: more is the beginning of a request. Unit: bytes. */
  received: number
  /** `Infinity` until it is read. */
  idleSince: number
}

/** On the socket itself: a weak map that changes with every connection makes work for each garbage collection. */
const admitted = Symbol('the connection that is served')
type Admitted = Socket & { [admitted]?: Connection }

/** Connections of an address that are read as soon as they are admitted: a few browsers, or `UPLOADS_AT_ONCE` uploads. */
const READ_AT_ONCE = 16

/** Interval of checks while connections wait. Unit: milliseconds. */
const CHECK_MS = 250

/**
 * To be called when all that serves a connection listens to `server` already. `maxOfAddress`: 0 for no limit. Trusted
 * proxies may have as many as they like: whose their connections are is not known before a request comes. `startLater`
 * runs what reads one of many connections of an address, `refuse` answers one that waited in vain.
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
      'connections' | 'connectionsWaiting' | 'connectionsWaitingOfAll' | 'connectionWaitMs' | 'settleMs'
    >
    startLater: (start: () => void, socket: Socket) => void
    refuse: (socket: Socket) => void
  },
): Accepting {
  const shares = new Map<string, Share>()
  /** Addresses with connections that wait, in the order of their turns. */
  const crowded = new Set<Share>()
  let open = 0
  let waiting = 0

  // A socket that waits must not be read: what it sends stays with the kernel.
  ;(server as unknown as { pauseOnConnect: boolean }).pauseOnConnect = true
  const serving = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', arrive)

  function shareOf(socket: Socket): Share {
    const peer = socket.remoteAddress ?? ''
    const isFree = maxOfAddress === 0 || trusted.has(peer)
    const address = isFree ? `any ${peer}` : quotaAddress(peer)
    let share = shares.get(address)
    if (share === undefined) {
      const most = isFree ? Number.POSITIVE_INFINITY : maxOfAddress
      share = { address, most, open: new Set(), waiting: [] }
      shares.set(address, share)
    }
    return share
  }

  function isWantedByOthers({ share }: Connection): boolean {
    return crowded.size > 0 && (crowded.has(share) || open >= limits.connections)
  }

  function hasRoom(share: Share): boolean {
    return open < limits.connections && share.open.size < share.most
  }

  function arrive(socket: Socket): void {
    const share = shareOf(socket)
    if (share.waiting.length === 0 && hasRoom(share)) {
      admit(socket, share)
      return
    }
    if (share.waiting.length >= limits.connectionsWaiting || !hasRoomToWait(share)) {
      socket.destroy()
      forgetIfEmpty(share)
      return
    }
    // An error that nobody hears would end the process.
    socket.on('error', () => {})
    share.waiting.push({ socket, since: performance.now() })
    waiting++
    if (share.waiting.length > 1) return
    crowded.add(share)
    // No race with the client's next request: it is told that the connection ends.
    for (const { owed } of share.open) for (const outgoing of owed) outgoing.shouldKeepAlive = false
    // At the end of this tick: what clients have sent by now has been read by then.
    setImmediate(makeRoom)
    checks.start()
  }

  /** Where all places in the line are taken, the address with the most of them gives one to those with less. */
  function hasRoomToWait(share: Share): boolean {
    if (waiting < limits.connectionsWaitingOfAll) return true
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
      owed: new Set(),
      received: 0,
      idleSince: Number.POSITIVE_INFINITY,
    }
    ;(socket as Admitted)[admitted] = connection
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
    if (share.open.size > READ_AT_ONCE) startLater(start, socket)
    else start()
  }

  function forgetIfEmpty(share: Share): void {
    if (share.waiting.length > 0) return
    crowded.delete(share)
    if (share.open.size === 0) shares.delete(share.address)
    if (crowded.size > 0) return
    void checks.stop()
  }

  /** The one of `share` that has waited longest, if there is room for it. Says whether it did. */
  function admitNext(share: Share): boolean {
    if (share.waiting.length === 0 || !hasRoom(share)) return false
    const { socket } = share.waiting.shift()!
    waiting--
    crowded.delete(share)
    if (share.waiting.length > 0) crowded.add(share)
    // First, for a share without connections is forgotten: later ones of its address would be counted from zero.
    admit(socket, share)
    forgetIfEmpty(share)
    return true
  }

  /** Closes as many idle connections as others wait for. */
  function makeRoom(): void {
    const now = performance.now()
    for (const share of [...crowded]) {
      if (share.open.size >= share.most) closeIdlest([...share.open], share.waiting.length, now)
    }
    if (waiting === 0 || open < limits.connections) return
    closeIdlest(
      [...shares.values()].flatMap((share) => [...share.open]),
      waiting,
      now,
    )
  }

  function isIdle({ socket, owed, received }: Connection): boolean {
    return owed.size === 0 && socket.bytesRead === received
  }

  function isSettled({ idleSince }: Connection, now: number): boolean {
    return now - idleSince >= limits.settleMs
  }

  function closeIdlest(connections: Connection[], most: number, now: number): void {
    const idle = connections.filter((each) => isIdle(each) && isSettled(each, now))
    idle.sort((a, b) => a.idleSince - b.idleSince)
    for (const { socket } of idle.slice(0, most)) socket.destroy()
  }

  function check(): void {
    const latest = performance.now() - limits.connectionWaitMs
    for (const share of [...crowded]) {
      while (share.waiting[0] !== undefined && share.waiting[0].since < latest) {
        const { socket } = share.waiting.shift()!
        waiting--
        refuse(socket)
      }
      forgetIfEmpty(share)
    }
    makeRoom()
  }

  // At the end of a tick: what clients have sent by then has been read.
  const checks = createIntervalJob(
    () => void setImmediate(check),
    CHECK_MS,
    () => {},
    { isFirstDone: true },
  )

  // Node's own channel: no listener on each answer.
  const finish = (message: unknown): void => {
    const { response, socket } = message as { response: ServerResponse; socket: Admitted }
    const connection = socket[admitted]
    if (connection === undefined || !connection.owed.delete(response)) return
    connection.received = socket.bytesRead
    connection.idleSince = performance.now()
  }
  subscribe('http.server.response.finish', finish)
  server.once('close', () => {
    unsubscribe('http.server.response.finish', finish)
    void checks.stop()
  })

  return {
    noting:
      (listener) => (incoming: IncomingMessage, outgoing: ServerResponse & { req: IncomingMessage }) => {
        const connection = (incoming.socket as Admitted)[admitted]
        if (connection !== undefined) {
          connection.owed.add(outgoing)
          if (isWantedByOthers(connection)) outgoing.shouldKeepAlive = false
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
