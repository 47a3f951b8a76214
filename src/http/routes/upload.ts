/**
 * POST /api/upload and the Web Share Target path: one implementation for programs and browsers. Framework-independent, so
 * that a host can read the upload from its socket and write the response there: a framework costs as much CPU as
 * inspecting the image.
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
import { randomIdentity } from '../../service/images/identities.ts'
import { InspectionFailure, type Published, type PublishOptions } from '../../service/images/publish.ts'
import { type Admitted, createAdmission } from '../../service/quota/admission.ts'
import type { CapacityReservation } from '../../service/quota/capacity.ts'
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

/** Value of `Allow` per path. */
export const UPLOAD_METHODS: Record<string, string> = { [UPLOAD_PATH]: 'POST, OPTIONS', [SHARE_PATH]: 'POST' }

/** True for the upload paths, regardless of the method. */
export function isUploadPath(path: string): boolean {
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
    assertNotPaused(parts)
    assertLengthWithinLimit(request, parts)
    const lifetimeSeconds = lifetimeFor(request.query, parts.lifetimes)
    const idempotencyKey = idempotencyKeyOf(request)
    const identity = idempotencyKey === null ? randomIdentity() : await parts.derive(idempotencyKey)
    const maxBytes = Math.min(parts.maxUploadBytes, announcedBytes(request.header) ?? parts.maxUploadBytes)
    let remaining: number | undefined
    const slot = await admit({
      address,
      identity,
      maxBytes,
      credentials: credentialsOf(request),
      onRemaining(left) {
        remaining = left
      },
      onDisconnect: request.onDisconnect,
    }).catch((error: Error) => error)
    if (slot instanceof Error) return { remaining: impliesNoneRemaining(slot) ? 0 : remaining, error: slot }
    try {
      return await receiveAdmitted(
        request,
        { identity, lifetimeSeconds, uploader: address },
        slot.admitted,
        startedAt,
      )
    } finally {
      slot.end()
    }
  }

  async function receiveAdmitted(
    request: UploadRequest,
    options: Required<Pick<PublishOptions, 'identity' | 'lifetimeSeconds' | 'uploader'>>,
    { reservation, spent, isRepeat }: Admitted,
    startedAt: number,
  ): Promise<Outcome> {
    const { remaining, used } = reservation
    const remainingReleased = quota.limit - used + 1
    let capacity: CapacityReservation | undefined
    let isKept = false
    const beforeStored = async (bytes: number) => {
      // Admitted as a retry for an existing image, which was deleted in the meantime.
      if (isRepeat) throw quotaExceeded(quota.limit)
      capacity = await parts.capacity.take(bytes)
    }
    try {
      const published = await parts.images.publish(fileOf(request), {
        maxBytes: announcedBytes(request.header),
        ...options,
        used,
        beforeStored,
        onStored() {
          isKept = true
        },
      })
      const stored = answerOf(published, request, startedAt)
      if (!published.isRepeat) {
        reservation.confirm()
        return { remaining, stored }
      }
      capacity?.release()
      spent.release()
      await release(reservation, request.body.received())
      return { remaining: remainingReleased, stored }
    } catch (error) {
      spent.release()
      if (isKept) {
        // Counted now: a retry finds the image and releases its own reservation.
        reservation.confirm()
        return { remaining, error }
      }
      capacity?.release()
      const released = release(reservation, isClientFault(error) ? request.body.received() : undefined)
      // Does not wait a second time for a ledger that did not respond.
      if (!isLedgerFault(error)) await released
      return { remaining: remainingReleased, error }
    }
  }

  function fileOf({ header, body }: UploadRequest): AsyncIterable<Uint8Array> {
    return filePart(header('content-type'), checkedBody(body, header('content-digest'), parts.hashes))
  }

  /** `receivedBytes`: bytes of a refused or repeated upload. Counted, so that a client cannot send them without limit. */
  async function release(reservation: Reservation, receivedBytes: number | undefined): Promise<void> {
    await reservation
      .release(receivedBytes)
      .catch((cause) => log.error({ err: cause }, 'failed to release a quota reservation'))
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
    return { allow, error: new Refusal('method-not-allowed', `This endpoint supports ${allow}.`) }
  }

  function logRefusal({ requestId, method }: UploadRequest, error: unknown, startedAt: number): void {
    logFault(log, error, requestId)
    // `logFault` has already logged server-side faults.
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

/** Elapsed time in whole milliseconds. */
function msSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}

function assertNotPaused({ uploadsPaused }: Pick<AppParts, 'uploadsPaused'>): void {
  if (!uploadsPaused()) return
  throw new Refusal(
    'uploads-paused',
    'The operator of this server has paused uploads. Please try again later.',
  )
}

/** True when no uploads remain, or when the ledger did not respond and should not be queried again. */
function impliesNoneRemaining(error: Error): boolean {
  if (isLedgerFault(error)) return true
  return error instanceof Refusal && ['quota-exceeded', 'too-many-refusals'].includes(error.code)
}

/** Runs before the body is read, so that a client that waits for `100 Continue` sends nothing. */
function assertLengthWithinLimit(
  request: UploadRequest,
  { maxUploadBytes }: Pick<AppParts, 'maxUploadBytes'>,
): void {
  const bytes = announcedBytes(request.header)
  if (bytes === undefined || bytes <= maxUploadBytes + MAX_OVERHEAD_BYTES) return
  throw new Refusal(
    'file-too-large',
    `The Content-Length of this request exceeds the file size limit of ${maxUploadBytes} bytes.`,
  )
}

/** True when the upload itself was at fault, not the server's resources. */
function isClientFault(error: unknown): boolean {
  if (error instanceof InspectionFailure) return true
  return error instanceof Refusal && !['unavailable', 'storage-full', 'capacity-reached'].includes(error.code)
}

function isLedgerFault(error: unknown): boolean {
  return error instanceof Refusal && error.cause instanceof LedgerUnavailable
}

/** `null` when absent. The deletion key can be derived from the value: never log it or include it in a response. */
function idempotencyKeyOf({ header }: UploadRequest): string | null {
  const key = header(IDEMPOTENCY_HEADER.toLowerCase())
  if (key === undefined) return null
  if (IDEMPOTENCY_PATTERN.test(key)) return key
  throw new Refusal('bad-idempotency-key', 'Idempotency-Key must be 22 to 255 visible ASCII characters.')
}

/** Ignores other schemes of `Authorization`: the operator's proxy may use them. */
function credentialsOf({ header }: UploadRequest): Credentials {
  return { solution: header(SOLUTION_HEADER.toLowerCase()), pass: bearerOf(header('authorization')) }
}

/** Content-Length, an upper bound for the image. `undefined` for a chunked body. */
export function announcedBytes(header: UploadRequest['header']): number | undefined {
  const length = header('content-length')
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}
