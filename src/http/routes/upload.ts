/**
 * POST /api/upload, and the address that phones share to: one way through for programs and browsers. It speaks no
 * framework's language, so that a host can take an upload from its socket and write the answer there: a framework
 * costs as much as looking at the image.
 */

import { Refusal } from '../../errors.ts'
import {
  DELETE_PATH,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_PATTERN,
  SOLUTION_HEADER,
  UPLOAD_PATH,
  type UploadAnswer,
  viewPath,
} from '../../protocol.ts'
import type { Credentials } from '../../service/challenge/challenges.ts'
import { lifetimeFor } from '../../service/images/expiry.ts'
import { drawIdentity } from '../../service/images/identities.ts'
import { InspectionFailure, type Published, type PublishOptions } from '../../service/images/publish.ts'
import { type Admitted, createAdmission } from '../../service/quota/admission.ts'
import type { Taken } from '../../service/quota/capacity.ts'
import { type ClientAddress, quotaExceeded, type Reservation } from '../../service/quota/quota.ts'
import { LedgerUnavailable } from '../../stores/ledger.ts'
import { SHARE_PATH } from '../../web/share-path.ts'
import type { Answer } from '../answer.ts'
import type { AppParts } from '../context.ts'
import { clientAddress } from '../headers/client-address.ts'
import { bearerOf } from '../headers/common.ts'
import { checkedBody } from '../headers/content-digest.ts'
import { filePart, MAX_OVERHEAD_BYTES } from '../multipart.ts'
import { logFault, toProblem } from '../problem.ts'
import { createUploadAnswer, type Outcome, type UploadRequest } from './upload-answer.ts'

/** Never rejects. */
export type Upload = (request: UploadRequest) => Promise<Answer>

/** The methods that each address takes. */
export const UPLOAD_METHODS: Record<string, string> = { [UPLOAD_PATH]: 'POST, OPTIONS', [SHARE_PATH]: 'POST' }

/** Whether this is an address of uploads, whatever the method. */
export function takesUploads(path: string): boolean {
  return path === UPLOAD_PATH || path === SHARE_PATH
}

export function createUpload(parts: AppParts): Upload {
  const { quota, metrics, log, baseUrl } = parts
  const answer = createUploadAnswer(parts)
  const admit = createAdmission(parts)

  async function receive(
    request: UploadRequest,
    address: ClientAddress,
    startedAt: number,
  ): Promise<Outcome> {
    parts.origins.assertAllowed(request.header)
    assertTaken(parts)
    assertMayFit(request, parts)
    const lifetimeSeconds = lifetimeFor(request.query, parts.lifetimes)
    const sent = idempotencyKeyOf(request)
    const identity = sent === null ? drawIdentity() : await parts.derive(sent)
    const maxBytes = Math.min(parts.maxUploadBytes, announced(request).maxBytes ?? parts.maxUploadBytes)
    let remaining: number | undefined
    const turn = await admit({
      address,
      identity,
      maxBytes,
      shown: shownBy(request),
      onRemaining(left) {
        remaining = left
      },
      onGone: request.onGone,
    }).catch((error: Error) => error)
    if (turn instanceof Error) return { remaining: tellsQuota(turn) ? 0 : remaining, error: turn }
    try {
      return await receiveAdmitted(request, { identity, lifetimeSeconds }, turn.admitted, startedAt)
    } finally {
      turn.end()
    }
  }

  async function receiveAdmitted(
    request: UploadRequest,
    asked: Required<Pick<PublishOptions, 'identity' | 'lifetimeSeconds'>>,
    { reservation, spent, isRepeat }: Admitted,
    startedAt: number,
  ): Promise<Outcome> {
    const { remaining, used } = reservation
    const remainingReleased = quota.limit - used + 1
    let taken: Taken | undefined
    let isKept = false
    const beforeStored = async (bytes: number) => {
      // The image that it repeats was there when it was admitted, and is gone.
      if (isRepeat) throw quotaExceeded(quota.limit)
      taken = await parts.capacity.take(bytes)
    }
    try {
      const published = await parts.images.publish(fileOf(request), {
        ...announced(request),
        ...asked,
        beforeStored,
        onKept() {
          isKept = true
        },
      })
      const stored = answerOf(published, request, startedAt)
      if (!published.isRepeat) {
        reservation.confirm()
        return { remaining, stored }
      }
      taken?.release()
      spent.release()
      await release(reservation, request.body.received())
      return { remaining: remainingReleased, stored }
    } catch (error) {
      spent.release()
      if (isKept) {
        // It counts here: the repeat finds the image, and gives its own reservation back.
        reservation.confirm()
        return { remaining, error }
      }
      taken?.release()
      const released = release(reservation, isClients(error) ? request.body.received() : undefined)
      // A ledger that did not answer was waited for once.
      if (!isOfLedger(error)) await released
      return { remaining: remainingReleased, error }
    }
  }

  function fileOf({ header, body }: UploadRequest): AsyncIterable<Uint8Array> {
    return filePart(header('content-type'), checkedBody(body, header('content-digest'), parts.hashes))
  }

  /** `receivedBytes`: of a body that was read for nothing, so that nobody sends without end. */
  async function release(reservation: Reservation, receivedBytes: number | undefined): Promise<void> {
    await reservation
      .release(receivedBytes)
      .catch((cause) => log.error({ err: cause }, 'a reservation was not released'))
  }

  function answerOf(published: Published, { requestId }: UploadRequest, startedAt: number) {
    const { record, key, isRepeat } = published
    const { id, type, size, expiresAt } = record
    const outcome = isRepeat ? 'repeated' : 'stored'
    metrics.upload(outcome, isRepeat ? 0 : size)
    log.info({ requestId, outcome, id, type, bytes: size, ms: msSince(startedAt) }, 'upload')
    const link = baseUrl + viewPath(id)
    const answer: UploadAnswer = { id, link, key, delete: `${baseUrl}${DELETE_PATH}?key=${key}` }
    if (expiresAt !== undefined) answer.expires = expiresAt
    return { answer, bytes: size }
  }

  function outcomeOf(
    request: UploadRequest,
    address: ClientAddress,
    startedAt: number,
  ): Promise<Outcome> | Outcome {
    const { method, path } = request
    if (method === 'POST') return receive(request, address, startedAt).catch((error) => ({ error }))
    const allow = UPLOAD_METHODS[path]!
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
    const address = clientAddress(request.peer, forwardedFor, parts.trusted)
    const outcome = await outcomeOf(request, address, startedAt)
    if (outcome.error !== undefined) {
      logRefusal(request, outcome.error, startedAt)
      if (request.method === 'POST') metrics.upload(toProblem(outcome.error).error, 0)
    }
    const remaining = outcome.remaining ?? (await quota.remaining(address).catch(() => 0))
    return answer(request, { ...outcome, remaining })
  }
}

/** Whole milliseconds. */
function msSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}

function assertTaken({ uploadsPaused }: Pick<AppParts, 'uploadsPaused'>): void {
  if (!uploadsPaused()) return
  throw new Refusal('uploads-paused', 'The operator of this server paused uploads. Please try again later.')
}

/** None is left; or the ledger does not answer, and is not asked a second time. */
function tellsQuota(error: Error): boolean {
  if (isOfLedger(error)) return true
  return error instanceof Refusal && ['quota-exceeded', 'too-many-refusals'].includes(error.code)
}

/** Before a byte of the body is read: a client that waits for `100 Continue` sends none. */
function assertMayFit(request: UploadRequest, { maxUploadBytes }: Pick<AppParts, 'maxUploadBytes'>): void {
  const { maxBytes } = announced(request)
  if (maxBytes === undefined || maxBytes <= maxUploadBytes + MAX_OVERHEAD_BYTES) return
  throw new Refusal(
    'file-too-large',
    `The file is larger than ${maxUploadBytes} bytes, by the Content-Length of its request.`,
  )
}

/** Refused for what it is, not for what the server lacks. */
function isClients(error: unknown): boolean {
  if (error instanceof InspectionFailure) return true
  return error instanceof Refusal && !['unavailable', 'storage-full', 'capacity-reached'].includes(error.code)
}

function isOfLedger(error: unknown): boolean {
  return error instanceof Refusal && error.cause instanceof LedgerUnavailable
}

/** `null` for a client that names nothing. It leads to the deletion key, so nothing of it is logged or told. */
function idempotencyKeyOf({ header }: UploadRequest): string | null {
  const sent = header(IDEMPOTENCY_HEADER.toLowerCase())
  if (sent === undefined) return null
  if (IDEMPOTENCY_PATTERN.test(sent)) return sent
  throw new Refusal('bad-idempotency-key', 'Idempotency-Key must be 22 to 255 visible characters.')
}

/** An operator's proxy may want other schemes of `Authorization`. */
function shownBy({ header }: UploadRequest): Credentials {
  return { solution: header(SOLUTION_HEADER.toLowerCase()), pass: bearerOf(header('authorization')) }
}

/** Nothing is known of a body in chunks. */
function announced({ header }: UploadRequest): { maxBytes?: number } {
  const length = header('content-length')
  return length !== undefined && /^\d{1,15}$/.test(length) ? { maxBytes: Number(length) } : {}
}
