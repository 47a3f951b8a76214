/** Uploads by single clients, each over its own connection. */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { converse } from '../../test/support/socket.ts'
import { BOUNDARY, bodyOf } from '../load/multipart.ts'

export interface Sender {
  /** The server's address. */
  url: string
  /** Source address of the connection. */
  from: string
}

export interface Sent {
  /** 0 when there was no response. */
  status: number
  headers: Headers
  tookMs: number
}

/** Longer than any response may take. */
const TIMEOUT_MS = 180_000

export function uploadHead(bytes: number, more = ''): string {
  const type = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`
  return `POST /api/upload HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${bytes}\r\n${more}\r\n`
}

export async function open({ url, from }: Sender): Promise<Socket> {
  return (await converse(url, TIMEOUT_MS, from)).socket
}

/** Sends a request with `send`, and waits for the response. */
export async function ask(sender: Sender, send: (socket: Socket) => Promise<void> | void): Promise<Sent> {
  const since = performance.now()
  try {
    const conversation = await converse(sender.url, TIMEOUT_MS, sender.from)
    await send(conversation.socket)
    const { status, headers } = await conversation.answer().finally(conversation.close)
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

/** Sends half of an upload, then resets the connection. */
export async function abort(sender: Sender, picture: Buffer): Promise<void> {
  const body = bodyOf(picture)
  const socket = await open(sender).catch(() => null)
  if (socket === null) return
  socket.write(Buffer.concat([Buffer.from(uploadHead(body.length)), body.subarray(0, body.length >> 1)]))
  await sleep(100)
  socket.resetAndDestroy()
}

/** Uploads at a limited rate. */
export function uploadSlowly(sender: Sender, picture: Buffer, bytesPerSecond: number): Promise<Sent> {
  const body = bodyOf(picture)
  return ask(sender, async (socket) => {
    socket.write(uploadHead(body.length))
    for (let at = 0; at < body.length && !socket.destroyed; at += bytesPerSecond) {
      socket.write(body.subarray(at, at + bytesPerSecond))
      await sleep(1000)
    }
  })
}

/** The number of responses per status, in ascending order. */
export function countsOf(sent: Sent[]): string {
  const counts = new Map<number, number>()
  for (const { status } of sent) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`)
    .join(', ')
}
