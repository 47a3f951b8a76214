/** The answer to an upload, from a service that need not be an honest one: every member is of its shape. */
import {
  DELETE_PATH,
  ID_PATTERN,
  KEY_PATTERN,
  RATE_REMAINING_HEADER,
  rawPath,
  TIME_PATTERN,
  viewPath,
} from '../../protocol.ts'
import type { Sent } from '../types.ts'
import { objectOf } from './answers.ts'
import { type Answer, NetworkFault } from './transport.ts'

export function sentOf(answer: Answer): Sent {
  const { id, link, key, delete: deleteLink, expires } = objectOf(answer)
  if (!isText(id) || !ID_PATTERN.test(id)) throw strange('id')
  if (!isAddress(link) || !link.endsWith(viewPath(id))) throw strange('link')
  if (!isText(key) || !KEY_PATTERN.test(key)) throw strange('key')
  if (!isAddress(deleteLink) || !deleteLink.endsWith(`${DELETE_PATH}?key=${key}`)) throw strange('delete')
  if (expires !== undefined && !isTime(expires)) throw strange('expires')
  const remaining = answer.header(RATE_REMAINING_HEADER)
  return {
    id,
    link,
    key,
    delete: deleteLink,
    ...(expires !== undefined && { expires }),
    raw: link.slice(0, -viewPath(id).length) + rawPath(id),
    ...(remaining !== null && /^\d{1,9}$/.test(remaining) ? { remaining: Number(remaining) } : {}),
  }
}

/** RFC 3339, in UTC. */
function isTime(value: unknown): value is string {
  return isText(value) && TIME_PATTERN.test(value) && !Number.isNaN(Date.parse(value))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Spelled as URLs are: no spaces, no control characters, nothing that a terminal or a shell would act upon. */
function isAddress(value: unknown): value is string {
  return isText(value) && /^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/.test(value) && URL.canParse(value)
}

function strange(member: string): NetworkFault {
  return new NetworkFault(`the answer's "${member}" is not what a Pinhole service sends`)
}
