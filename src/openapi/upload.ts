/** The upload: what is sent, what comes back. */
import {
  DELETE_PATH,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_PATTERN,
  IMAGE_TYPES,
  REPEAT_SECONDS,
  UPLOAD_FIELD,
  viewPath,
} from '../protocol.ts'
import { CORS, headers, ON_PAGES, RATE, UNCACHED } from './headers.ts'
import { HTML, refusals } from './responses.ts'
import { uploadSamples } from './samples.ts'
import { EXAMPLE_ID, EXAMPLE_KEY } from './schemas.ts'
import type { ApiSettings, Operation } from './shapes.ts'

export function upload(settings: ApiSettings): Operation {
  const { baseUrl, maxUploadBytes, uploadsPerDay } = settings
  const link = `${baseUrl}${viewPath(EXAMPLE_ID)}`
  const answer = {
    id: EXAMPLE_ID,
    link,
    key: EXAMPLE_KEY,
    delete: `${baseUrl}${DELETE_PATH}?key=${EXAMPLE_KEY}`,
  }
  return {
    operationId: 'upload',
    tags: ['Images'],
    summary: 'Upload an image',
    description:
      `A form with exactly one part, named \`${UPLOAD_FIELD}\`: JPEG, PNG, GIF, WebP or AVIF of at most ` +
      `${maxUploadBytes} bytes. The type is read from the bytes; the file name and the declared type are ignored. ` +
      `An address stores at most ${uploadsPerDay} images in a UTC day; refused uploads do not count. ` +
      'Metadata that says where, by whom and with what a picture was taken is not stored, unless the operator ' +
      'turned that off; pixels are never touched, and GIF is stored as it comes.',
    parameters: [
      {
        name: 'Accept',
        in: 'header',
        description: 'text/plain for the link alone, text/html for a page; JSON for all others.',
        schema: { type: 'string' },
        example: 'application/json',
      },
      {
        name: 'Content-Digest',
        in: 'header',
        description: 'Of the whole form (RFC 9530): sha-256 or sha-512. Another form than that is refused.',
        schema: { type: 'string' },
        example: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
      },
      {
        name: IDEMPOTENCY_HEADER,
        in: 'header',
        description:
          'Generate one for each image, of at least 128 random bits, and send it again with each repeat: the same image gets ' +
          'the same answer and counts once. It is a secret, for it leads to the deletion key. Stop repeating after ' +
          `${REPEAT_SECONDS} seconds: a repeat that comes after the image was deleted stores it again.`,
        schema: { type: 'string', pattern: IDEMPOTENCY_PATTERN.source },
        example: 'c1f0a8de-0f4d-4e0b-9d5b-3a4c7fae2b11',
      },
    ],
    requestBody: {
      description: 'The image.',
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            // The format is OpenAPI 3.0's: generators still know a file by it.
            properties: { [UPLOAD_FIELD]: { type: 'string', format: 'binary' } },
            required: [UPLOAD_FIELD],
            additionalProperties: false,
          },
          encoding: { [UPLOAD_FIELD]: { contentType: IMAGE_TYPES.join(', ') } },
        },
      },
    },
    responses: {
      201: {
        description: 'The image is stored, and survives a crash of the service.',
        headers: headers([...UNCACHED, 'Location', ...RATE, ...CORS, ...ON_PAGES]),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Upload' },
            examples: { stored: { value: answer } },
          },
          'text/plain': { schema: { type: 'string' }, examples: { stored: { value: `${link}\n` } } },
          ...HTML,
        },
      },
      ...refusals('upload', 'either', (status) => [
        ...RATE,
        ...CORS,
        ...(status === 429 ? (['Retry-After'] as const) : []),
      ]),
    },
    'x-codeSamples': uploadSamples(baseUrl),
  }
}
