/** Uploads kept in flight for as long as a test needs, and what others observe meanwhile. */
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { type Conversation, converse } from '../support/socket.ts'

const FORM = 'Content-Type: multipart/form-data; boundary=pinhole-test-boundary'

/** A partially sent upload. */
export interface Halfway {
  talk: Conversation
  bytes: Buffer
  rest: Buffer
}

export async function sendHalf(url: string, size: number, from: string): Promise<Halfway> {
  const bytes = gif({ size })
  const { body } = formOf(bytes)
  const talk = await converse(url, 60_000)
  const half = body.length >> 1
  await talk.write(
    `POST /api/upload HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n${FORM}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await talk.write(body.subarray(0, half))
  return { talk, bytes, rest: body.subarray(half) }
}

/** The address's remaining quota today. Observed without an upload: this method is refused. */
export async function reservationsLeft(url: string, from: string): Promise<number> {
  const answer = await request(url, 'PUT', '/api/upload', { headers: { 'X-Forwarded-For': from } })
  return Number(answer.headers.get('X-RateLimit-Remaining'))
}

/** Whether the server refuses connections. */
export function isRefused(url: string): Promise<boolean> {
  return converse(url).then(
    (talk) => {
      talk.close()
      return false
    },
    (error) => error.code === 'ECONNREFUSED',
  )
}
