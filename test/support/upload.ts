/** Uploads as a client sends them, for tests that are about something else. */
import type { UploadAnswer } from '../../src/protocol.ts'
import { type Answer, type RequestOptions, request } from './http.ts'
import { gif } from './images/tiny-images.ts'
import { formOf } from './multipart.ts'
import { type Conversation, converse } from './socket.ts'

/** `from`: the client's address, as reported by a trusted proxy or Cloudflare. */
export function post(
  url: string,
  bytes: Uint8Array,
  from = '198.51.100.1',
  { headers, query = '', ...more }: RequestOptions & { query?: string } = {},
): Promise<Answer> {
  const { body, contentType } = formOf(bytes)
  const own = { 'Content-Type': contentType, 'X-Forwarded-For': from, 'CF-Connecting-IP': from }
  return request(url, 'POST', `/api/upload${query}`, { headers: { ...own, ...headers }, body, ...more })
}

/**
 * Sends `count` concurrent uploads from one address, spread over `urls`, and `aborted` more that are aborted half-way. Returns
 * the responses and their counts by status.
 */
export async function burst(
  urls: string[],
  count: number,
  { from, aborted }: { from: string; aborted: number },
): Promise<{ answers: Answer[]; statuses: Record<number, number> }> {
  const partial: Promise<Conversation>[] = []
  const posted: Promise<Answer>[] = []
  for (let index = 0; index < count; index++) {
    const url = urls[index % urls.length]!
    posted.push(post(url, gif(), from))
    if (index % Math.floor(count / (aborted || count)) === 0 && partial.length < aborted)
      partial.push(begin(url, from))
  }
  for (const talk of partial) (await talk).close()
  const answers = await Promise.all(posted)
  const statuses: Record<number, number> = {}
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1
  return { answers, statuses }
}

/** An upload of which the first half was sent: it holds a reservation. `rest`: the second half. */
type Begun = Conversation & { bytes: Buffer; rest: Buffer }

export async function begin(
  url: string,
  from: string,
  bytes: Buffer = gif({ size: 10_000 }),
): Promise<Begun> {
  const { body, contentType } = formOf(bytes)
  const talk = await converse(url)
  await talk.write(
    `POST /api/upload HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: ${contentType}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
  )
  const half = body.length >> 1
  await talk.write(body.subarray(0, half))
  return { ...talk, bytes, rest: body.subarray(half) }
}

export interface Stored extends UploadAnswer {
  bytes: Buffer
}

export async function store(url: string, bytes: Buffer = gif(), from?: string): Promise<Stored> {
  const answer = await post(url, bytes, from)
  if (answer.status !== 201) throw new Error(`not stored: ${answer.status} ${answer.text}`)
  return { ...answer.json(), bytes }
}

/** Uploads left today, without using one: PUT is refused in any case. */
export async function remaining(url: string, from: string): Promise<number> {
  const answer = await request(url, 'PUT', '/api/upload', { headers: { 'X-Forwarded-For': from } })
  return Number(answer.headers.get('X-RateLimit-Remaining'))
}

export function fetchRaw(url: string, id: string): Promise<Answer> {
  return request(url, 'GET', `/raw/${id}`)
}

export function remove(url: string, key: string): Promise<Answer> {
  return request(url, 'DELETE', `/api/delete?key=${key}`)
}
