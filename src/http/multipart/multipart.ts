/** The one file of a multipart/form-data body (RFC 7578), as a stream. */
import { Refusal } from '../../errors.ts'
import { UPLOAD_FIELD } from '../../protocol.ts'
import { MultipartError, PartReader } from './part-reader.ts'

/** The length that RFC 2046, 5.1.1 allows, and some more characters: all that need no escape in a quoted string. */
const BOUNDARY = /^[ !#-[\]-~]{1,70}$/

/** All that is not the file: preamble, part headers, delimiters, epilogue, parts that are about to be refused. */
export const MAX_OVERHEAD_BYTES = 64 * 1024

/**
 * The bytes of the part named `file`, and then the proof that nothing else was in the body: what is yielded counts
 * only when the iteration ends. Throws `Refusal` with `not-multipart`, `malformed-multipart`, `missing-file` or
 * `unexpected-field`.
 */
export async function* filePart(
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const boundary = boundaryOf(contentType)
  const names: string[] = []
  let bodyBytes = 0
  let fileBytes = 0
  let chunks: Uint8Array[] = []
  const reader = new PartReader(boundary, {
    start(name) {
      if (name === null)
        throw new MultipartError('a part has no Content-Disposition of form-data with a name')
      names.push(name)
      if (names.length > 1 && names.includes(UPLOAD_FIELD)) throw unexpectedField()
    },
    data(bytes) {
      if (names.at(-1) !== UPLOAD_FIELD) return
      fileBytes += bytes.length
      chunks.push(bytes)
    },
  })
  try {
    for await (const chunk of body) {
      bodyBytes += chunk.length
      reader.read(chunk)
      for (const bytes of chunks) yield bytes
      chunks = []
      if (bodyBytes - fileBytes <= MAX_OVERHEAD_BYTES) continue
      throw names.length > 0 ? unexpectedField() : new MultipartError('it holds too much apart from the file')
    }
    if (!reader.isDone) throw new MultipartError('it was cut off before its end')
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error
    throw new Refusal('malformed-multipart', `The multipart body cannot be read: ${error.message}.`)
  }
  if (!names.includes(UPLOAD_FIELD)) throw new Refusal('missing-file', 'The form has no field named "file".')
}

function boundaryOf(contentType: string | undefined): string {
  if (contentType === undefined || !/^multipart\/form-data\s*(;|$)/i.test(contentType)) {
    throw new Refusal('not-multipart', 'Send the image as multipart/form-data, in one field named "file".')
  }
  const match = /;\s*boundary=(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;"]+))/i.exec(contentType)
  const boundary = match?.[1]?.replace(/\\([\s\S])/g, '$1') ?? match?.[2] ?? ''
  if (BOUNDARY.test(boundary)) return boundary
  throw new Refusal(
    'malformed-multipart',
    'The boundary is missing, longer than 70 characters, or has characters that are not allowed.',
  )
}

function unexpectedField(): Refusal {
  return new Refusal('unexpected-field', 'Send exactly one field, named "file", and nothing else.')
}
