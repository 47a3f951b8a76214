/**
 * POST /api/upload, and the address that phones share to: one way through for programs and browsers. It speaks no
 * framework's language, so that a host can take an upload from its socket and write the answer there: a framework
 * costs as much as looking at the image.
 */

import { Refusal } from '../../errors.ts'
import { DELETE_PATH, UPLOAD_PATH, type UploadAnswer, viewPath } from '../../protocol.ts'
import { refuseFault } from '../../service/faults.ts'
import { SHARE_PATH } from '../../web/share-path.ts'
import type { Answer } from '../answer.ts'
import type { RequestBody } from '../body.ts'
import type { AppParts } from '../context.ts'
import { clientAddress, quotaAddress } from '../headers/client-address.ts'
import { filePart } from '../multipart/multipart.ts'
import { logFault, toProblem } from '../problem.ts'
import { createUploadAnswers } from './upload-answer.ts'

export interface UploadRequest {
  method: string
  /** Without a query. */
  path: string
  /** The address of the socket's peer. */
  peer: string
  /** By name in lower case. */
  header(name: string): string | undefined
  body: RequestBody
  requestId: string
}

/** What became of a request: `stored`, or `error`, or neither where the methods are all that was asked for. */
export interface Outcome {
  stored?: UploadAnswer
  error?: unknown
  /** Uploads left today, if that was found out. */
  remaining?: number
  /** The methods of the address, where the answer names them. */
  allow?: string
}

/** Never rejects. */
export type Upload = (request: UploadRequest) => Promise<Answer>

/** The methods that each address takes. */
const METHODS: Record<string, string> = { [UPLOAD_PATH]: 'POST, OPTIONS', [SHARE_PATH]: 'POST' }

/** Whether this is an address of uploads, whatever the method. */
export function takesUploads(path: string): boolean {
  return path === UPLOAD_PATH || path === SHARE_PATH
}

export function createUpload(parts: AppParts): Upload {
  const { quota, metrics, log, baseUrl } = parts
  const answers = createUploadAnswers(parts)

  async function receive(request: UploadRequest, address: string, startedAt: number): Promise<Outcome> {
    parts.origins.assertAllowed(request.header)
    assertTaken(parts)
    const reservation = await quota.reserve(address).catch(asFault)
    if (reservation instanceof Error) {
      // A ledger that does not answer takes no upload either, and is not asked a second time.
      return isBusy(reservation) ? { error: reservation } : { remaining: 0, error: reservation }
    }
    const { remaining } = reservation
    try {
      const file = filePart(request.header('content-type'), request.body)
      const { record, key } = await parts.images.publish(file, announcedBytes(request))
      reservation.keep()
      const { id, type, size } = record
      metrics.upload('stored', size)
      const { requestId } = request
      log.info({ requestId, outcome: 'stored', id, type, bytes: size, ms: msSince(startedAt) }, 'upload')
      const link = baseUrl + viewPath(id)
      return { remaining, stored: { id, link, key, delete: `${baseUrl}${DELETE_PATH}?key=${key}` } }
    } catch (error) {
      await reservation
        .giveBack(isClients(error) ? request.body.received : undefined)
        .catch((cause) => log.error({ err: cause }, 'a reservation was not given back'))
      return { remaining: Math.min(quota.limit, remaining + 1), error }
    }
  }

  function outcomeOf(request: UploadRequest, address: string, startedAt: number): Promise<Outcome> | Outcome {
    const { method, path } = request
    if (method === 'POST') return receive(request, address, startedAt).catch((error) => ({ error }))
    const allow = METHODS[path]!
    if (method === 'OPTIONS' && path === UPLOAD_PATH) return { allow }
    return { allow, error: new Refusal('method-not-allowed', `This address takes ${allow}.`) }
  }

  function logRefusal({ requestId, method }: UploadRequest, error: unknown, startedAt: number): void {
    logFault(log, error, requestId)
    // What is the server's own fault has its line already.
    if (method !== 'POST' || !(error instanceof Refusal) || error.cause !== undefined) return
    log.info({ requestId, outcome: error.code, ms: msSince(startedAt) }, 'upload')
  }

  return async (request) => {
    const startedAt = performance.now()
    const forwardedFor = request.header('x-forwarded-for')
    const address = quotaAddress(clientAddress(request.peer, forwardedFor, parts.trusted))
    const outcome = await outcomeOf(request, address, startedAt)
    if (outcome.error !== undefined) {
      logRefusal(request, outcome.error, startedAt)
      if (request.method === 'POST') metrics.upload(toProblem(outcome.error).error, 0)
    }
    const remaining = outcome.remaining ?? (await quota.remaining(address).catch(() => 0))
    return answers.answerTo(request, { ...outcome, remaining })
  }
}

/** Whole milliseconds. */
function msSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}

/** What is refused because of it; itself if it is the server's own mistake. */
function asFault(error: unknown): Error {
  try {
    return refuseFault(error)
  } catch (refusal) {
    return refusal as Error
  }
}

function assertTaken({ uploadsPaused }: Pick<AppParts, 'uploadsPaused'>): void {
  if (!uploadsPaused) return
  throw new Refusal('uploads-paused', 'The operator of this server paused uploads. Please try again later.')
}

function isBusy(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'busy'
}

/** Refused for what it is, not for what the server lacks. */
function isClients(error: unknown): boolean {
  return error instanceof Refusal && error.code !== 'unavailable' && error.code !== 'storage-full'
}

/** Unit: bytes. `undefined` for a body in chunks. */
function announcedBytes({ header }: UploadRequest): number | undefined {
  const length = header('content-length')
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}
