/** Uploads kept in flight for as long as a test needs, and what others observe meanwhile. */
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { type Conversation, converse } from '../support/socket.ts'
import { begin } from '../support/upload.ts'

/** A partially sent upload. */
export interface Halfway {
  talk: Conversation
  bytes: Buffer
  rest: Buffer
}

export async function sendHalf(url: string, size: number, from: string): Promise<Halfway> {
  const bytes = gif({ size })
  const { rest, ...talk } = await begin(url, from, bytes)
  return { talk, bytes, rest }
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
