import { Refusal } from '../../errors.ts'
import { previewFrame } from '../../formats/preview-frame.ts'
import {
  DEFAULT_MAX_UPLOAD_BYTES,
  EXPIRES_PARAMETER,
  EXTENSIONS,
  IDEMPOTENCY_HEADER,
  type ImageType,
  REPEAT_SECONDS,
  SOLUTION_HEADER,
  UPLOAD_FIELD,
  UPLOAD_PATH,
} from '../../protocol.ts'
import { checkArguments } from '../arguments.ts'
import { sliceable } from '../blob-source.ts'
import type { Compressed, SendOptions, Sent, UploadOptions, UploadResult } from '../types.ts'
import { rejectAnswer, sentOf } from './answers.ts'
import { type Endpoint, endpointOf } from './endpoint.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { withRetries } from './retry.ts'

/** The service sends a second challenge if solving the first took too long. */
const MAX_CHALLENGES = 2

/** Loaded when an upload is refused with a status that may carry a challenge. */
let challenges: typeof import('./challenge.ts') | undefined

/**
 * Uploads a file as is. Rejects with a `Refusal` (`file-too-large`) before sending anything, with a `ServerRefusal`, or with
 * `Unreachable`.
 *
 * Retries after network faults and temporary failures; the image is stored only once. If the service requires proof of work,
 * solves it in a second or two.
 */
export async function send(blob: Blob, options?: SendOptions): Promise<Sent> {
  return sendTo(blob, options, endpointOf(options?.baseUrl))
}

export async function sendTo(blob: Blob, options: SendOptions = {}, endpoint: Endpoint): Promise<Sent> {
  checkArguments(blob, options)
  const { signal, onProgress, retries, maxBytes = DEFAULT_MAX_UPLOAD_BYTES } = options
  if (blob.size > maxBytes)
    throw new Refusal('file-too-large', `The image has ${blob.size} bytes. The limit is ${maxBytes}.`)
  const { idempotencyKey = newIdempotencyKey(), expires, preview } = options
  const query = expires === undefined ? '' : `?${EXPIRES_PARAMETER}=${expires}`
  const image = await sliceable(blob)
  let body = preview === undefined ? image : withPreview(image, await sliceable(preview))
  // Set once a complete body has been sent: before that, the image can't have been stored.
  let mayBeStoredSince: number | undefined
  const extension = EXTENSIONS[blob.type as ImageType] ?? 'bin'
  const onSent = (sentBytes: number, totalBytes: number) => {
    if (sentBytes >= totalBytes) mayBeStoredSince ??= endpoint.clock.now()
    const percent = Math.floor((100 * sentBytes) / totalBytes) || 0
    onProgress?.({ stage: 'uploading', sentBytes, totalBytes, percent })
  }
  const post = (solution: string | null | undefined) => {
    onSent(0, body.size)
    return endpoint.transport({
      method: 'POST',
      url: endpoint.address(UPLOAD_PATH) + query,
      headers: {
        [IDEMPOTENCY_HEADER]: idempotencyKey,
        ...(solution && { [SOLUTION_HEADER]: solution }),
      },
      // The original file name is private and is never sent.
      file: { field: UPLOAD_FIELD, name: `image.${extension}`, blob: body },
      signal,
      onSent,
    })
  }
  const attempt = async () => {
    let solution = await challenges?.solveAhead(endpoint, signal)
    for (let tries = 1; ; tries++) {
      const before = mayBeStoredSince
      const answer = await post(solution)
      // Answers to an upload that was not looked at.
      if (/"error":"(busy|challenge)/.test(answer.text)) mayBeStoredSince = before
      if (answer.status === 201) return sentOf(answer)
      // The image may fit without its preview.
      if (answer.status === 413 && body !== image) body = image
      else {
        if (answer.status !== 403 || tries > MAX_CHALLENGES) return rejectAnswer(answer)
        challenges ??= await import('./challenge.ts').catch(() => undefined)
        solution = await challenges?.solveRefusal(answer, endpoint, signal)
        if (!solution) return rejectAnswer(answer)
      }
    }
  }
  const onWait = (attempt: number, seconds: number, cause: Error) =>
    onProgress?.({ stage: 'waiting', attempt, seconds, cause })
  // Any later, the image may have been stored, seen and deleted: a retry would bring it back.
  const mayRetry = () =>
    mayBeStoredSince === undefined || endpoint.clock.now() - mayBeStoredSince < REPEAT_SECONDS * 1000
  const sent = await withRetries(attempt, { retries, mayRetry, signal, onWait }, endpoint.clock)
  onProgress?.({ stage: 'done' })
  return sent
}

export async function uploadWith(
  compress: (file: Blob, options: UploadOptions) => Promise<Compressed>,
  file: Blob,
  options: UploadOptions,
): Promise<UploadResult> {
  const endpoint = endpointOf(options.baseUrl)
  const compressed = await compress(file, options)
  const { blob, preview, bytesIn, bytesOut, type, action, hasLocation } = compressed
  const sent = await sendTo(blob, { ...options, ...(preview && { preview }) }, endpoint)
  return { ...sent, bytesIn, bytesOut, type, action, hasLocation }
}

/** The image with its preview appended. */
function withPreview(image: Blob, preview: Blob): Blob {
  const { head, foot } = previewFrame(preview.size)
  return new Blob([image, head, preview, foot], { type: image.type })
}
