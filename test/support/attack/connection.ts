/** An attacker's connections: they ignore errors and never wait forever. */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A connection counts as stuck if the server reads nothing from it for this long. */
const STUCK_MS = 1000

export interface Attack {
  port: number
  /** Socket of the admin server. */
  adminPath: string
  /** Local address of the connections. */
  from: string
  isOver(): boolean
  sent: { bytes: number; connections: number }
}

/** `null` if the server accepts no more connections. `reads`: if false, responses stay in the kernel's buffers. */
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

/** `false` if the connection is closed, or if the server has stopped reading from it. */
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

/** Runs `attempt` repeatedly on this many concurrent connections until the attack is over. */
export async function onEach(
  attack: Attack,
  connections: number,
  attempt: () => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!attack.isOver()) {
        await attempt()
        // Reconnecting without pause would attack the kernel rather than the server, and we share the CPUs with it.
        await sleep(50)
      }
    }),
  )
}
