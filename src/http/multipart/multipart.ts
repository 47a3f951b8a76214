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
export function filePart(
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => new FilePart(boundaryOf(contentType), body[Symbol.asyncIterator]()),
  }
}

/** Not an async generator: each adds a fortieth to the cost of an upload. */
class FilePart implements AsyncIterator<Uint8Array> {
  readonly #body: AsyncIterator<Uint8Array>
  readonly #reader: PartReader
  readonly #names: string[] = []
  #overheadBytes = 0
  /** Bytes of the file in what was read last. */
  readonly #pieces: Uint8Array[] = []

  constructor(boundary: string, body: AsyncIterator<Uint8Array>) {
    this.#body = body
    this.#reader = new PartReader(boundary, {
      start: (name) => this.#start(name),
      data: (bytes) => this.#data(bytes),
    })
  }

  #start(name: string | null): void {
    if (name === null) throw new MultipartError('a part has no Content-Disposition of form-data with a name')
    this.#names.push(name)
    if (this.#names.length > 1 && this.#names.includes(UPLOAD_FIELD)) throw unexpectedField()
  }

  #data(bytes: Uint8Array): void {
    if (this.#names.at(-1) !== UPLOAD_FIELD) return
    this.#overheadBytes -= bytes.length
    this.#pieces.push(bytes)
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      for (;;) {
        const piece = this.#pieces.shift()
        if (piece !== undefined) return { done: false, value: piece }
        this.#assertLittleElse()
        const chunk = await this.#body.next()
        if (chunk.done) break
        this.#overheadBytes += chunk.value.length
        this.#reader.read(chunk.value)
      }
      if (!this.#reader.isDone) throw new MultipartError('it was cut off before its end')
    } catch (error) {
      await this.return()
      if (!(error instanceof MultipartError)) throw error
      throw new Refusal('malformed-multipart', `The multipart body cannot be read: ${error.message}.`)
    }
    if (!this.#names.includes(UPLOAD_FIELD)) {
      throw new Refusal('missing-file', 'The form has no field named "file".')
    }
    return { done: true, value: undefined }
  }

  #assertLittleElse(): void {
    if (this.#overheadBytes <= MAX_OVERHEAD_BYTES) return
    throw this.#names.length > 0
      ? unexpectedField()
      : new MultipartError('it holds too much apart from the file')
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#body.return?.()
    return { done: true, value: undefined }
  }
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
