/** Reports of images, as a program files them. */
import assert from 'node:assert/strict'
import { type Answer, request } from './http.ts'

/** `from`: as a trusted proxy names who reports. */
export function postReport(url: string, image: string, more: object = {}, from?: string): Promise<Answer> {
  const given = {
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
    body: Buffer.from(JSON.stringify(given)),
  })
}

/** The path of the receipt. */
export async function report(...words: Parameters<typeof postReport>): Promise<string> {
  const answer = await postReport(...words)
  assert.equal(answer.status, 202, answer.text)
  return new URL(answer.json().receipt).pathname
}
