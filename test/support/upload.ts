/** An upload as a client does it, for tests that are about something else. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { UploadAnswer } from '../../src/protocol.ts'
import { type Answer, request } from './http.ts'
import { gif } from './images/tiny-images.ts'
import { formOf } from './multipart.ts'

const LONGEST_PAUSE_MS = 500

export function post(url: string, bytes: Uint8Array, from = '198.51.100.1'): Promise<Answer> {
  const { body, contentType } = formOf(bytes)
  const headers = { 'Content-Type': contentType, 'X-Forwarded-For': from }
  return request(url, 'POST', '/api/upload', { headers, body })
}

/**
 * The same from an address that has many under way at once: again as long as it is told to wait. Hundreds that ask every
 * moment would leave a server no time for those that it took.
 */
export async function postInTurn(url: string, bytes: Uint8Array, from?: string): Promise<Answer> {
  for (let pauseMs = 20; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    const answer = await post(url, bytes, from)
    if (answer.status !== 503 || answer.json().error !== 'busy') return answer
    await sleep(pauseMs)
  }
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
