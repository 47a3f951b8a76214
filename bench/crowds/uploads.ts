/** Uploads as single clients send them, each over a connection of its own. */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { converse } from '../../test/support/socket.ts'
import { BOUNDARY, bodyOf } from '../load/multipart.ts'

export interface Sender {
  /** The server's address. */
  url: string
  /** The address that the connection comes from. */
  from: string
}

export interface Sent {
  /** 0 if none came. */
  status: number
  headers: Headers
  tookMs: number
}

/** Longer than anything may wait. */
const PATIENCE_MS = 180_000

export function uploadHead(bytes: number, more = ''): string {
  const type = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`
  return `POST /api/upload HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${bytes}\r\n${more}\r\n`
}

export async function open({ url, from }: Sender): Promise<Socket> {
  return (await converse(url, PATIENCE_MS, from)).socket
}

/** Sends with `act`, and waits for the answer. */
export async function ask(sender: Sender, act: (socket: Socket) => Promise<void> | void): Promise<Sent> {
  const since = performance.now()
  try {
    const talk = await converse(sender.url, PATIENCE_MS, sender.from)
    await act(talk.socket)
    const { status, headers } = await talk.answer().finally(talk.close)
    return { status, headers, tookMs: performance.now() - since }
  } catch {
    return { status: 0, headers: new Headers(), tookMs: performance.now() - since }
  }
}

export function upload(sender: Sender, picture: Buffer): Promise<Sent> {
  const body = bodyOf(picture)
  return ask(
    sender,
    (socket) => void socket.write(Buffer.concat([Buffer.from(uploadHead(body.length)), body])),
  )
}

/** Half of a picture, and then a reset. */
export async function abort(sender: Sender, picture: Buffer): Promise<void> {
  const body = bodyOf(picture)
  const socket = await open(sender).catch(() => null)
  if (socket === null) return
  socket.write(Buffer.concat([Buffer.from(uploadHead(body.length)), body.subarray(0, body.length >> 1)]))
  await sleep(100)
  socket.resetAndDestroy()
}

/** At a pace in bytes a second. */
export function uploadSlowly(sender: Sender, picture: Buffer, pace: number): Promise<Sent> {
  const body = bodyOf(picture)
  return ask(sender, async (socket) => {
    socket.write(uploadHead(body.length))
    for (let at = 0; at < body.length && !socket.destroyed; at += pace) {
      socket.write(body.subarray(at, at + pace))
      await sleep(1000)
    }
  })
}

/** How often each status came, the lowest first. */
export function countsOf(sent: Sent[]): string {
  const counts = new Map<number, number>()
  for (const { status } of sent) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`)
    .join(', ')
}
