/** The ways in which a request can be made to cost. Each goes on until the attack is over. */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../../../src/node/http/limits.ts'
import { type Attack, onEach, open, send } from './connection.ts'
import { bodyStart, headOf, type Target, wholeRequest } from './targets.ts'

export interface Way {
  name: string
  /** It sends megabytes in bodies: what it costs is counted by the megabyte. */
  isBulk: boolean
  run(attack: Attack, target: Target): Promise<void>
}

const KILOBYTE = 1024
const PIECE = Buffer.alloc(64 * KILOBYTE, 'a')
const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')])
const CRUMBS = Buffer.from('1\r\na\r\n'.repeat(10_000))
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'

/** Just below what a server reads of headers: as many as it takes, and far more. */
const LARGE_HEADERS = `${`a:${'b'.repeat(80)}\r\n`.repeat(LIMITS.headers - 28)}X-Filler: ${'a'.repeat(5000)}\r\n`
const MANY_HEADERS = `${'a:b\r\n'.repeat(1900)}X-Filler: ${'a'.repeat(4000)}\r\n`

/** All that an address may have, but for the one that others need. */
const CONNECTIONS = 120

/** One is answered, and as many as may wait on a connection wait. */
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
        // What was asked for is held as long as the attack goes on.
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
        // The head at once: it is the body that may be slow.
        let goesOn = await send(attack, socket, `${headOf(target)}Content-Length: 100000\r\n\r\n`)
        for (const byte of `${bodyStart(target)}${'a'.repeat(1000)}`) {
          goesOn = goesOn && !attack.isOver() && (await send(attack, socket, byte))
          if (!goesOn) break
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

/** So that what is sent on all of them is sent at the same moment: the server finds it when it looks once. */
async function openAll(attack: Attack, target: Target, { reads }: { reads: boolean }): Promise<Socket[]> {
  const each = Array.from({ length: CONNECTIONS }, () => open(attack, target, { reads }))
  return (await Promise.all(each)).filter((socket) => socket !== null)
}

async function pour(attack: Attack, target: Target, piece: Uint8Array): Promise<void> {
  const socket = await open(attack, target, { reads: true })
  if (socket === null) return
  const start = bodyStart(target)
  const head = `${headOf(target)}${CHUNKED}${start.length.toString(16)}\r\n${start}\r\n`
  let goesOn = await send(attack, socket, head)
  while (goesOn && !attack.isOver()) goesOn = await send(attack, socket, piece)
  socket.destroy()
}
