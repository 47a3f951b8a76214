/** Reports of images through the API. */
import assert from 'node:assert/strict'
import { type Answer, request } from './http.ts'

/** `from`: the client's address, as reported by a trusted proxy. */
export function postReport(url: string, image: string, more: object = {}, from?: string): Promise<Answer> {
  const body = {
    image,
    category: 'malware',
    text: 'It is a <b>false</b> parcel notice.',
    goodFaith: true,
    ...more,
  }
  return request(url, 'POST', '/api/report', {
    headers: {
      'Content-Type': 'application/json',
      ...(from !== undefined && { 'X-Forwarded-For': from }),
    },
    body: Buffer.from(JSON.stringify(body)),
  })
}

/** Files a report. Resolves to the path of its receipt. */
export async function report(...args: Parameters<typeof postReport>): Promise<string> {
  const answer = await postReport(...args)
  assert.equal(answer.status, 202, answer.text)
  return new URL(answer.json().receipt).pathname
}
