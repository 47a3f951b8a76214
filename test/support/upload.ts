/** An upload as a client does it, for tests that are about something else. */
import type { UploadAnswer } from '../../src/protocol.ts'
import { type Answer, request } from './http.ts'
import { gif } from './images/tiny-images.ts'
import { formOf } from './multipart.ts'
import { type Conversation, converse } from './socket.ts'

/** `from`: as a trusted proxy or Cloudflare names the client. */
export function post(url: string, bytes: Uint8Array, from = '198.51.100.1'): Promise<Answer> {
  const { body, contentType } = formOf(bytes)
  const headers = { 'Content-Type': contentType, 'X-Forwarded-For': from, 'CF-Connecting-IP': from }
  return request(url, 'POST', '/api/upload', { headers, body })
}

/**
 * Sends uploads at once from one address, spread over `urls`, and `aborted` more among them of which half is sent. How many were
 * answered with each status.
 */
export async function burst(
  urls: string[],
  count: number,
  { from, aborted }: { from: string; aborted: number },
): Promise<{ answers: Answer[]; statuses: Record<number, number> }> {
  const begun: Promise<Conversation>[] = []
  const posted: Promise<Answer>[] = []
  for (let nth = 0; nth < count; nth++) {
    const url = urls[nth % urls.length]!
    posted.push(post(url, gif(), from))
    if (nth % Math.floor(count / (aborted || count)) === 0 && begun.length < aborted)
      begun.push(begin(url, from))
  }
  for (const talk of begun) (await talk).close()
  const answers = await Promise.all(posted)
  const statuses: Record<number, number> = {}
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1
  return { answers, statuses }
}

/** The half of an upload, whose reservation is held. `rest`: what is to come. */
export async function begin(url: string, from: string): Promise<Conversation & { rest: Buffer }> {
  const { body, contentType } = formOf(gif({ size: 10_000 }))
  const talk = await converse(url)
  await talk.write(
    `POST /api/upload HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: ${contentType}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
  )
  await talk.write(body.subarray(0, 5000))
  return { ...talk, rest: body.subarray(5000) }
}

export interface Stored extends UploadAnswer {
  bytes: Buffer
}

export async function store(url: string, bytes: Buffer = gif(), from?: string): Promise<Stored> {
  const answer = await post(url, bytes, from)
  if (answer.status !== 201) throw new Error(`not stored: ${answer.status} ${answer.text}`)
  return { ...answer.json(), bytes }
}

export function fetchRaw(url: string, id: string): Promise<Answer> {
  return request(url, 'GET', `/raw/${id}`)
}

export function remove(url: string, key: string): Promise<Answer> {
  return request(url, 'DELETE', `/api/delete?key=${key}`)
}
