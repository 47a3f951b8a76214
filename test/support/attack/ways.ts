/** Attack strategies that make requests expensive. Each runs until the attack is over. */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../../../src/node/http/limits.ts'
import { chunkOf } from '../socket.ts'
import { type Attack, onEach, open, send } from './connection.ts'
import { bodyStart, headOf, type Target, wholeRequest } from './targets.ts'

export interface Way {
  name: string
  /** Sends megabytes of bodies, so that its cost is measured per megabyte. */
  isBulk: boolean
  run(attack: Attack, target: Target): Promise<void>
}

const KILOBYTE = 1024
const CHUNK = chunkOf(Buffer.alloc(64 * KILOBYTE, 'a'))
const CRUMBS = Buffer.from('1\r\na\r\n'.repeat(10_000))
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'

/** Just below the server's header size limit: with as many headers as it accepts, and with far more. */
const LARGE_HEADERS = `${`a:${'b'.repeat(80)}\r\n`.repeat(LIMITS.headers - 28)}X-Filler: ${'a'.repeat(5000)}\r\n`
const MANY_HEADERS = `${'a:b\r\n'.repeat(1900)}X-Filler: ${'a'.repeat(4000)}\r\n`

/** The connection limit of an address, minus a few that other checks need. */
const CONNECTIONS = 120

/** One request in progress, plus as many as may queue on a connection. */
const PIPELINED = 1 + LIMITS.pipelined

export const WAYS: Way[] = [
  {
    name: 'pipelined, never read',
    isBulk: false,
    run: async (attack, target) => {
      const batch = Buffer.concat(Array(PIPELINED).fill(wholeRequest(target)))
      while (!attack.isOver()) {
        const sockets = await openAll(attack, target, { reads: false })
        await Promise.all(sockets.map((socket) => send(attack, socket, batch)))
        // Keeps the unread responses pending for the rest of the attack.
        while (!attack.isOver() && sockets.some(({ destroyed }) => !destroyed)) await sleep(50)
        for (const socket of sockets) socket.destroy()
      }
    },
  },
  {
    name: 'pipelined without end',
    isBulk: false,
    run: (attack, target) =>
      onEach(attack, 16, async () => {
        const socket = await open(attack, target, { reads: true })
        if (socket === null) return
        const batch = Buffer.concat(Array(200).fill(wholeRequest(target)))
        while (!attack.isOver() && (await send(attack, socket, batch))) await sleep(20)
        socket.destroy()
      }),
  },
  {
    name: 'one each, at the same moment',
    isBulk: false,
    run: async (attack, target) => {
      const whole = wholeRequest(target)
      while (!attack.isOver()) {
        const sockets = await openAll(attack, target, { reads: true })
        while (!attack.isOver() && sockets.some(({ destroyed }) => !destroyed)) {
          await Promise.all(sockets.map((socket) => send(attack, socket, whole)))
          await sleep(50)
        }
        for (const socket of sockets) socket.destroy()
      }
    },
  },
  { name: 'large headers, 500 at once', isBulk: false, run: withHeaders(LARGE_HEADERS) },
  { name: 'many headers, 500 at once', isBulk: false, run: withHeaders(MANY_HEADERS) },
  {
    name: 'endless body',
    isBulk: true,
    run: (attack, target) => onEach(attack, 8, () => pour(attack, target, CHUNK)),
  },
  {
    name: 'chunks of one byte',
    isBulk: true,
    run: (attack, target) => onEach(attack, 8, () => pour(attack, target, CRUMBS)),
  },
  {
    name: 'byte by byte',
    isBulk: false,
    run: (attack, target) =>
      onEach(attack, CONNECTIONS, async () => {
        const socket = await open(attack, target, { reads: true })
        if (socket === null) return
        // The head in one piece: only the body is slow.
        let isOpen = await send(attack, socket, `${headOf(target)}Content-Length: 100000\r\n\r\n`)
        for (const byte of `${bodyStart(target)}${'a'.repeat(1000)}`) {
          isOpen = isOpen && !attack.isOver() && (await send(attack, socket, byte))
          if (!isOpen) break
          await sleep(50)
        }
        socket.destroy()
      }),
  },
  {
    name: 'reset half-way',
    isBulk: false,
    run: (attack, target) =>
      onEach(attack, 100, async () => {
        const socket = await open(attack, target, { reads: false })
        if (socket === null) return
        await send(attack, socket, `${headOf(target)}Content-Length: 100000\r\n\r\n${bodyStart(target)}`)
        if (target.isAtAdmin) socket.destroy()
        else socket.resetAndDestroy()
      }),
  },
]

function withHeaders(headers: string): Way['run'] {
  return (attack, target) =>
    onEach(attack, 500, async () => {
      const socket = await open(attack, target, { reads: true })
      if (socket === null) return
      await send(attack, socket, wholeRequest(target, headers))
      while (!attack.isOver() && !socket.destroyed) await sleep(50)
      socket.destroy()
    })
}

/** Opens all connections first, so that requests on them arrive together, within one event-loop iteration of the server. */
async function openAll(attack: Attack, target: Target, { reads }: { reads: boolean }): Promise<Socket[]> {
  const each = Array.from({ length: CONNECTIONS }, () => open(attack, target, { reads }))
  return (await Promise.all(each)).filter((socket) => socket !== null)
}

async function pour(attack: Attack, target: Target, piece: Uint8Array): Promise<void> {
  const socket = await open(attack, target, { reads: true })
  if (socket === null) return
  const head = `${headOf(target)}${CHUNKED}${chunkOf(bodyStart(target))}`
  let isOpen = await send(attack, socket, head)
  while (isOpen && !attack.isOver()) isOpen = await send(attack, socket, piece)
  socket.destroy()
}
