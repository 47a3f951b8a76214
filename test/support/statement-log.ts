/** Logs the statements that clients send to Postgres, by a TCP proxy (PostgreSQL 18, 54.7, "Message Formats"). */
import type { Socket } from 'node:net'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface StatementLog extends TcpProxy {
  /** In the order sent. */
  statements: string[]
  /** Number of round trips: each Sync and each simple query is one. */
  roundTrips(): number
  clear(): void
}

export async function startStatementLog(postgresPort: number): Promise<StatementLog> {
  const statements: string[] = []
  let roundTrips = 0
  const readers = new WeakMap<Socket, (bytes: Buffer) => void>()

  function onMessage(type: string, body: Buffer): void {
    const [first, second] = body.toString('utf8').split('\0')
    if (type === 'Q') statements.push(first!)
    if (type === 'P') statements.push(second!)
    if (type === 'Q' || type === 'S') roundTrips++
  }

  const proxy = await startTcpProxy(postgresPort, {
    watch(connection, bytes) {
      if (!readers.has(connection)) readers.set(connection, messageReader(onMessage))
      readers.get(connection)!(bytes)
    },
  })
  return {
    ...proxy,
    statements,
    roundTrips: () => roundTrips,
    clear() {
      statements.length = 0
      roundTrips = 0
    },
  }
}

/** Splits a connection's bytes into messages. The first message of a connection has no type byte. */
function messageReader(onMessage: (type: string, body: Buffer) => void): (bytes: Buffer) => void {
  let pending = Buffer.alloc(0)
  let typeBytes = 0
  return (bytes) => {
    pending = Buffer.concat([pending, bytes])
    for (;;) {
      if (pending.length < typeBytes + 4) return
      const end = typeBytes + pending.readUInt32BE(typeBytes)
      if (pending.length < end) return
      if (typeBytes > 0) onMessage(String.fromCharCode(pending[0]!), pending.subarray(typeBytes + 4, end))
      pending = pending.subarray(end)
      typeBytes = 1
    }
  }
}
