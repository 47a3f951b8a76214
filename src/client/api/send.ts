import { Refusal } from '../../errors.ts'
import { frameAround } from '../../formats/preview-frame.ts'
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
import { divisible } from '../blob-source.ts'
import type { Compressed, SendOptions, Sent, UploadOptions, UploadResult } from '../types.ts'
import { rejectAnswer, sentOf } from './answers.ts'
import { type Endpoint, endpointOf } from './endpoint.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { withRetries } from './retry.ts'

/** A second one comes if the first took too long. */
const MAX_CHALLENGES = 2

/** Fetched when an upload is refused that could be asked for proof of work. */
let challenges: typeof import('./challenge.ts') | undefined

/**
 * Uploads bytes as they are. Rejects with `Refusal('file-too-large')` before anything is sent, with a `ServerRefusal`, or
 * with `Unreachable`.
 *
 * A network fault is retried under the same name, so that nothing is stored twice. Where a service wants proof of work, it is
 * done here, in a second or two.
 */
export async function send(blob: Blob, options?: SendOptions): Promise<Sent> {
  return sendTo(blob, options, endpointOf(options?.baseUrl))
}

export async function sendTo(blob: Blob, options: SendOptions = {}, endpoint: Endpoint): Promise<Sent> {
  checkArguments(blob, options)
  const { signal, onProgress, retries, maxBytes = DEFAULT_MAX_UPLOAD_BYTES } = options
  if (blob.size > maxBytes) throw tooLarge(blob.size, maxBytes)
  const { idempotencyKey = newIdempotencyKey(), expires } = options
  const query = expires === undefined ? '' : `?${EXPIRES_PARAMETER}=${expires}`
  const body = await withPreview(await divisible(blob), options.preview, maxBytes)
  // Until a whole image left, none can have been stored.
  let mayBeStoredSince: number | undefined
  const extension = EXTENSIONS[blob.type as ImageType] ?? 'bin'
  const post = (solution: string | null) => {
    onProgress?.({ stage: 'uploading', sentBytes: 0, totalBytes: body.size, percent: 0 })
    return endpoint.transport({
      method: 'POST',
      url: endpoint.address(UPLOAD_PATH) + query,
      headers: {
        [IDEMPOTENCY_HEADER]: idempotencyKey,
        ...(solution !== null && { [SOLUTION_HEADER]: solution }),
      },
      // The name on the person's disk is nobody's business.
      file: { field: UPLOAD_FIELD, name: `image.${extension}`, blob: body },
      signal,
      onSent(sentBytes, totalBytes) {
        if (sentBytes >= totalBytes) mayBeStoredSince ??= endpoint.clock.now()
        const percent = Math.floor((100 * sentBytes) / totalBytes)
        onProgress?.({ stage: 'uploading', sentBytes, totalBytes, percent })
      },
    })
  }
  const attempt = async () => {
    let solution = (await challenges?.solvedAhead(endpoint, signal)) ?? null
    for (let tries = 1; ; tries++) {
      const answer = await post(solution)
      if (answer.status === 201) return sentOf(answer)
      if (answer.status !== 403 || tries > MAX_CHALLENGES) return rejectAnswer(answer)
      challenges ??= await import('./challenge.ts').catch(() => undefined)
      solution = (await challenges?.solvedFor(answer, endpoint, signal)) ?? null
      if (solution === null) return rejectAnswer(answer)
    }
  }
  const onWait = (attempt: number, seconds: number, cause: Error) =>
    onProgress?.({ stage: 'waiting', attempt, seconds, cause })
  // Later the image may have been stored, seen and deleted: a repeat would bring it back.
  const mayRepeat = () =>
    mayBeStoredSince === undefined || endpoint.clock.now() - mayBeStoredSince < REPEAT_SECONDS * 1000
  const sent = await withRetries(attempt, { retries, mayRepeat, signal, onWait }, endpoint.clock)
  onProgress?.({ stage: 'done' })
  return sent
}

/** Compresses, then sends. */
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

/** One file: the image, and its preview behind it if there is room for one. */
async function withPreview(image: Blob, preview: Blob | undefined, maxBytes: number): Promise<Blob> {
  if (preview === undefined) return image
  const { head, foot } = frameAround(preview.size)
  const file = new Blob([image, head, await divisible(preview), foot], { type: image.type })
  return file.size <= maxBytes ? file : image
}

function tooLarge(bytes: number, maxBytes: number): Refusal {
  const megabytes = (value: number) => (value / 2 ** 20).toFixed(1)
  return new Refusal(
    'file-too-large',
    `The image has ${megabytes(bytes)} MB after compression; at most ${megabytes(maxBytes)} MB are accepted.`,
  )
}
