/** Connections of an attacker: they care about no error, and never wait for ever. */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server that reads nothing for so long reads no more of this connection. */
const STUCK_MS = 1000

export interface Attack {
  port: number
  /** The admin server. */
  adminPath: string
  /** The address that the connections come from. */
  from: string
  isOver(): boolean
  sent: { bytes: number; connections: number }
}

/** `null` if the server takes no more. `reads`: false leaves everything that comes in the kernel. */
export function open(
  attack: Attack,
  { isAtAdmin = false }: { isAtAdmin?: boolean },
  { reads }: { reads: boolean },
): Promise<Socket | null> {
  const { port, adminPath, from } = attack
  return new Promise((resolve) => {
    const socket = connect(isAtAdmin ? { path: adminPath } : { host: '127.0.0.1', port, localAddress: from })
    socket.setNoDelay(true)
    socket.on('error', () => resolve(null))
    socket.on('close', () => resolve(null))
    socket.on('connect', () => {
      attack.sent.connections++
      resolve(socket)
    })
    if (reads) socket.resume()
    else socket.pause()
  })
}

/** `false` when the connection is over, or the server reads no more of it. */
export function send(attack: Attack, socket: Socket, bytes: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve(false)
    const timer = setTimeout(resolve, STUCK_MS, false)
    const end = (isSent: boolean) => {
      clearTimeout(timer)
      resolve(isSent)
    }
    socket.once('close', () => end(false))
    socket.write(bytes, (error) => {
      if (!error) attack.sent.bytes += bytes.length
      socket.removeAllListeners('close')
      end(!error)
    })
  })
}

/** Does the same on so many connections, each again and again until the attack is over. */
export async function onEach(attack: Attack, connections: number, act: () => Promise<void>): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!attack.isOver()) {
        await act()
        // Connecting again and again is an attack on the kernel, and the generator shares our processors.
        await sleep(50)
      }
    }),
  )
}
