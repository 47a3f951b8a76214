/** What each error code means, what to do about it, and which operations refuse with it. */
import type { ProblemCode } from '../problems.ts'

/** Operations by `operationId`. `anywhere`: at any address, before it is known which one is meant. */
export type Refuser =
  | 'upload'
  | 'deleteImage'
  | 'askDeletion'
  | 'deleteByForm'
  | 'getImage'
  | 'headImage'
  | 'viewImage'
  | 'report'
  | 'askReport'
  | 'reportByForm'
  | 'readReceipt'
  | 'readTransparency'
  | 'oembed'
  | 'anywhere'

export interface CodeFacts {
  /** One sentence: the condition. */
  when: string
  /** One sentence: what a client does now. */
  remedy: string
  by: readonly Refuser[]
}

const UPLOADS = ['upload'] as const
const IMAGES = ['getImage', 'headImage', 'viewImage', 'oembed'] as const
const DELETIONS = ['deleteImage', 'deleteByForm'] as const

export const CODES: Record<ProblemCode, CodeFacts> = {
  'malformed-multipart': {
    when: 'The body is not well-formed multipart/form-data, or it was cut off.',
    remedy: 'Let a library build the form; send it again if the connection broke.',
    by: UPLOADS,
  },
  'missing-file': {
    when: 'The form has no part named file, or that part is empty.',
    remedy: 'Send the image as a part named file.',
    by: UPLOADS,
  },
  'unexpected-field': {
    when: 'The form has something besides the one part named file.',
    remedy: 'Send one image a request, and no other fields.',
    by: UPLOADS,
  },
  'not-multipart': {
    when: 'The body is not multipart/form-data.',
    remedy: 'Send a form, not the bare bytes.',
    by: UPLOADS,
  },
  'file-too-large': {
    when: 'The file is larger than this service takes.',
    remedy: 'Make the image smaller.',
    by: UPLOADS,
  },
  'unsupported-type': {
    when: 'The bytes are not a JPEG, PNG, GIF, WebP or AVIF image.',
    remedy: 'Convert the image. File names and declared types are ignored.',
    by: UPLOADS,
  },
  'damaged-image': {
    when: 'The type is right, but the file is cut off, contradicts itself, has no pixels, or far too many.',
    remedy: 'Save the image anew from the program that made it.',
    by: UPLOADS,
  },
  'blocked-image': {
    when: 'The operator removed this very image before, and blocked it.',
    remedy: 'Do not send it again.',
    by: UPLOADS,
  },
  'capacity-reached': {
    when: 'The whole server stored as many uploads, or bytes, as the operator lets it store in one day.',
    remedy: 'Try again after as many seconds as the member retryAfter says.',
    by: UPLOADS,
  },
  'network-quota-exceeded': {
    when: 'The network of this address (/24, or /48 of IPv6) made all its uploads of today.',
    remedy: 'Try again after the time in Retry-After.',
    by: UPLOADS,
  },
  'cross-site': {
    when: 'A page of another site asked a browser for this, and the operator did not allow that site.',
    remedy: 'Call from a server, or ask the operator to list your origin.',
    by: ['upload', 'deleteByForm', 'report', 'reportByForm'],
  },
  'quota-exceeded': {
    when: 'The address has stored as many images as it may in one UTC day.',
    remedy: 'Wait as long as Retry-After says.',
    by: UPLOADS,
  },
  'too-many-refusals': {
    when: 'Too many uploads of the address were refused in this UTC day, or too many bytes of them.',
    remedy: 'Wait as long as Retry-After says, and look at why they were refused.',
    by: UPLOADS,
  },
  busy: {
    when: 'The upload waited too long for its turn, or too many others wait already.',
    remedy: 'Send it again after as many seconds as the member retryAfter says.',
    by: UPLOADS,
  },
  'not-a-form': {
    when: 'The body is not a form as browsers send it.',
    remedy: 'Send application/x-www-form-urlencoded.',
    by: ['deleteByForm', 'reportByForm'],
  },
  'body-too-large': {
    when: 'The body is larger than this address reads.',
    remedy: 'Send the fields that are asked for, and no others.',
    by: ['deleteByForm', 'report', 'reportByForm'],
  },
  'bad-idempotency-key': {
    when: 'Idempotency-Key is not 22 to 255 visible characters.',
    remedy: 'Generate at least 128 random bits for each image.',
    by: UPLOADS,
  },
  'idempotency-key-reused': {
    when: 'Another image was sent under this Idempotency-Key before, or its image was deleted.',
    remedy: 'Generate a new one for each image, and for one that is to be stored again.',
    by: UPLOADS,
  },
  'uploads-paused': {
    when: 'The operator paused uploads.',
    remedy: 'Try again later.',
    by: UPLOADS,
  },
  'storage-full': {
    when: 'The storage of the service is full.',
    remedy: 'Try again later.',
    by: UPLOADS,
  },
  unavailable: {
    when: 'The store or the ledger behind the service does not answer.',
    remedy: 'Try again in a while.',
    by: [
      ...UPLOADS,
      ...IMAGES,
      ...DELETIONS,
      'askDeletion',
      'report',
      'askReport',
      'reportByForm',
      'readReceipt',
      'readTransparency',
    ],
  },
  'bad-report': {
    when: 'Something is missing from the report, or is not as it should be.',
    remedy: 'The detail says what.',
    by: ['report', 'reportByForm'],
  },
  'too-many-reports': {
    when: 'The address made as many reports of this kind as are taken in one UTC day, or too many of images that are not here.',
    remedy: 'Wait as long as Retry-After says, or write to the operator.',
    by: ['report', 'reportByForm'],
  },
  'too-slow': {
    when: 'The request came too slowly and was given up.',
    remedy: 'Send it again, over a better connection.',
    by: [...UPLOADS, 'anywhere'],
  },
  'missing-key': {
    when: 'The request names no deletion key.',
    remedy: 'Add the key that the upload returned.',
    by: [...DELETIONS, 'askDeletion'],
  },
  'missing-url': {
    when: 'The request names no page of an image.',
    remedy: 'Add url: the address of the page, percent-encoded.',
    by: ['oembed'],
  },
  'unsupported-format': {
    when: 'A format other than JSON was asked for.',
    remedy: 'Ask for format=json, or for none.',
    by: ['oembed'],
  },
  'unknown-key': {
    when: 'No image has this deletion key. It may have been deleted already.',
    remedy: 'Nothing: the image is not there.',
    by: [...DELETIONS, 'askDeletion'],
  },
  'not-found': {
    when: 'There is nothing at this address. An image may have been deleted.',
    remedy: 'Check the address: it is read letter by letter.',
    by: [...IMAGES, 'report', 'askReport', 'reportByForm', 'anywhere'],
  },
  removed: {
    when: 'The operator removed the image.',
    remedy: 'Nothing: it does not come back.',
    by: [...UPLOADS, ...IMAGES, 'askDeletion'],
  },
  held: {
    when: 'The operator is checking the image, or one of the same bytes.',
    remedy: 'Come back later: it is there again, or removed for good.',
    by: [...UPLOADS, ...IMAGES],
  },
  'method-not-allowed': {
    when: 'The address does not take this method.',
    remedy: 'Use one that Allow lists.',
    by: ['anywhere'],
  },
  'precondition-failed': {
    when: 'If-Match names a representation other than the current one.',
    remedy: 'Fetch the image without a condition.',
    by: ['getImage', 'headImage'],
  },
  'range-not-satisfiable': {
    when: 'The range begins beyond the end of the image.',
    remedy: 'Content-Range has the size; ask within it.',
    by: ['getImage'],
  },
  'bad-request': {
    when: 'This is not an HTTP request that the server can read.',
    remedy: 'Correct the client.',
    by: ['anywhere'],
  },
  'headers-too-large': {
    when: 'The headers of the request are too large.',
    remedy: 'Send less: the service needs no cookies.',
    by: ['anywhere'],
  },
  'internal-error': {
    when: 'Something went wrong on the server.',
    remedy: 'Tell the operator the request id of the answer.',
    by: ['anywhere'],
  },
}

/** Codes with which an operation refuses. */
export function codesOf(refuser: Refuser): ProblemCode[] {
  return (Object.keys(CODES) as ProblemCode[]).filter((code) => CODES[code].by.includes(refuser))
}
