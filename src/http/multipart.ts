/**
 * The one file of a multipart/form-data body (RFC 7578), as a stream: delimiters and part headers are read as they come
 * (RFC 2046, 5.1.1).
 */
import { joined } from '../bytes.ts'
import { Refusal } from '../errors.ts'
import { UPLOAD_FIELD } from '../protocol.ts'

/** The length that RFC 2046, 5.1.1 allows, and some more characters: all that need no escape in a quoted string. */
const BOUNDARY = /^[ !#-[\]-~]{1,70}$/

/** All that is not the file: preamble, part headers, delimiters, epilogue, parts that are about to be refused. */
export const MAX_OVERHEAD_BYTES = 64 * 1024

/** Far more than browsers send. */
const MAX_PART_HEADER_BYTES = 16 * 1024

const CR = 13
const LF = 10
const HYPHEN = 45

/** Why a body can't be read, in words for the client. */
class MultipartError extends Error {}

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

/**
 * Holds no more than one delimiter, or one part's headers. Not an async generator: each adds a fortieth to the cost of an
 * upload.
 */
class FilePart implements AsyncIterator<Uint8Array> {
  readonly #body: AsyncIterator<Uint8Array>
  /** Finds CRLF, two hyphens, the boundary. */
  readonly #findDelimiter: Search
  readonly #delimiterBytes: number
  #state: 'preamble' | 'delimiter' | 'headers' | 'body' | 'done' = 'preamble'
  /** Bytes that can't be judged before more come. A body may begin with a delimiter that has no CRLF before it. */
  #held: Uint8Array = Uint8Array.of(CR, LF)
  readonly #names: string[] = []
  #overheadBytes = 0
  /** Bytes of the file in what was read last. */
  readonly #pieces: Uint8Array[] = []

  constructor(boundary: string, body: AsyncIterator<Uint8Array>) {
    const delimiter = new TextEncoder().encode(`\r\n--${boundary}`)
    this.#body = body
    this.#findDelimiter = searchFor(delimiter)
    this.#delimiterBytes = delimiter.length
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
        this.#read(chunk.value)
      }
      if (this.#state !== 'done') throw new MultipartError('it was cut off before its end')
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

  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#body.return?.()
    return { done: true, value: undefined }
  }

  #assertLittleElse(): void {
    if (this.#overheadBytes <= MAX_OVERHEAD_BYTES) return
    throw this.#names.length > 0
      ? unexpectedField()
      : new MultipartError('it holds too much apart from the file')
  }

  #read(chunk: Uint8Array): void {
    let bytes: Uint8Array | null = this.#afterHeld(chunk)
    while (bytes !== null) bytes = this.#step(bytes)
  }

  /** What was held and what came, as one. A chunk is not copied for what is held: only the seam is. */
  #afterHeld(chunk: Uint8Array): Uint8Array {
    const held = this.#held
    if (held.length === 0) return chunk
    const isSkipping = this.#state === 'body' || this.#state === 'preamble'
    if (!isSkipping || held.length >= this.#delimiterBytes || chunk.length < this.#delimiterBytes) {
      return joined(held, chunk)
    }
    const seam = joined(held, chunk.subarray(0, this.#delimiterBytes - 1))
    const at = this.#findDelimiter(seam)
    this.#take(held.subarray(0, at < 0 ? held.length : at))
    if (at < 0) return chunk
    this.#state = 'delimiter'
    return chunk.subarray(at + this.#delimiterBytes - held.length)
  }

  /** What is left after one step, or `null` if more bytes must come first. */
  #step(bytes: Uint8Array): Uint8Array | null {
    switch (this.#state) {
      case 'preamble':
      case 'body':
        return this.#skipTo(bytes)
      case 'delimiter':
        return this.#endOfDelimiter(bytes)
      case 'headers':
        return this.#headers(bytes)
      case 'done':
        // Bytes behind the closing delimiter are ignored (RFC 2046, 5.1.1: epilogue).
        return this.#hold(new Uint8Array(0))
    }
  }

  #hold(bytes: Uint8Array): null {
    // A copy: the chunk is its owner's again when it has been read.
    this.#held = new Uint8Array(bytes)
    return null
  }

  /** Bytes before a delimiter: of the file, if they are in its part. */
  #take(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#state !== 'body' || this.#names.at(-1) !== UPLOAD_FIELD) return
    this.#overheadBytes -= bytes.length
    this.#pieces.push(bytes)
  }

  /** Up to the next delimiter. */
  #skipTo(bytes: Uint8Array): Uint8Array | null {
    const at = this.#findDelimiter(bytes)
    const end = at < 0 ? Math.max(0, bytes.length - this.#delimiterBytes + 1) : at
    this.#take(bytes.subarray(0, end))
    if (at < 0) return this.#hold(bytes.subarray(end))
    this.#state = 'delimiter'
    return bytes.subarray(at + this.#delimiterBytes)
  }

  /** Two hyphens close the form. Padding may stand before the line's end. */
  #endOfDelimiter(bytes: Uint8Array): Uint8Array | null {
    if (bytes.length < 2) return this.#hold(bytes)
    if (bytes[0] === HYPHEN && bytes[1] === HYPHEN) {
      this.#state = 'done'
      return bytes.subarray(2)
    }
    let at = 0
    while (at < bytes.length && (bytes[at] === 32 || bytes[at] === 9)) at++
    if (at > MAX_PART_HEADER_BYTES) throw new MultipartError('a delimiter line is too long')
    if (bytes.length < at + 2) return this.#hold(bytes)
    if (bytes[at] !== CR || bytes[at + 1] !== LF) throw new MultipartError('a delimiter line does not end')
    this.#state = 'headers'
    // The line's end stays: an empty line right after it ends headers that are not there.
    return bytes.subarray(at)
  }

  /** Up to the empty line. */
  #headers(bytes: Uint8Array): Uint8Array | null {
    const at = findEmptyLine(bytes)
    if (at > MAX_PART_HEADER_BYTES || (at < 0 && bytes.length > MAX_PART_HEADER_BYTES)) {
      throw new MultipartError('the headers of a part are too long')
    }
    if (at < 0) return this.#hold(bytes)
    const name = nameIn(bytes.subarray(2, Math.max(2, at)))
    if (name === null) throw new MultipartError('a part has no Content-Disposition of form-data with a name')
    this.#names.push(name)
    if (this.#names.length > 1 && this.#names.includes(UPLOAD_FIELD)) throw unexpectedField()
    this.#state = 'body'
    return bytes.subarray(at + EMPTY_LINE.length)
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

const EMPTY_LINE = Uint8Array.of(CR, LF, CR, LF)
const findEmptyLine = searchFor(EMPTY_LINE)

/** The name that the part's `Content-Disposition` gives. The other headers are ignored, but must be headers. */
function nameIn(headers: Uint8Array): string | null {
  const text = new TextDecoder().decode(headers).replace(/\r\n[ \t]+/g, ' ')
  let disposition: string | undefined
  for (const line of text.split('\r\n')) {
    const header = /^([!#-'*+.^-z|~0-9A-Z-]+):([^\0]*)$/.exec(line)
    if (header === null && line !== '')
      throw new MultipartError('a part has a line among its headers that is not a header')
    if (header?.[1]?.toLowerCase() === 'content-disposition') disposition ??= header[2]
  }
  return fieldName(disposition)
}

/** A parameter: its name, and its value quoted or not. Browsers put UTF-8 as it is into quoted file names. */
const PARAMETER = /\s*;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;"]*))/y

/** The name of a form's field, from the Content-Disposition of its part (RFC 7578, 4.2). `null` if it names no field, or two. What else it says, such as a file name, is not looked into. */
function fieldName(disposition: string | undefined): string | null {
  if (disposition === undefined) return null
  const kind = /^\s*form-data(?=\s*(;|$))/i.exec(disposition)
  if (kind === null) return null
  let name: string | null = null
  PARAMETER.lastIndex = kind[0].length
  for (let match = PARAMETER.exec(disposition); match !== null; match = PARAMETER.exec(disposition)) {
    if (match[1]!.toLowerCase() !== 'name') continue
    if (name !== null) return null
    name = match[2] ?? match[3]!
  }
  return name
}

/** Where `needle` starts in the bytes, or -1. */
type Search = (bytes: Uint8Array) => number

/**
 * Horspool's search (Practical fast searching in strings, 1980): it looks at one byte in `needle.length`, where no byte
 * is like those of the needle.
 */
function searchFor(needle: Uint8Array): Search {
  const last = needle.length - 1
  const shift = new Uint8Array(256).fill(needle.length)
  for (let i = 0; i < last; i++) shift[needle[i]!] = last - i
  const afterLast = shift[needle[last]!]!
  // 0 for the needle's last byte: all others are passed with one look.
  const skip = shift.with(needle[last]!, 0)

  return (bytes) => {
    for (let end = last; end < bytes.length; ) {
      const step = skip[bytes[end]!]!
      if (step > 0) {
        end += step
        continue
      }
      // The first byte of a delimiter is in it once: a body of nothing but near misses costs no more for it.
      if (bytes[end - last] === needle[0] && endsAt(bytes, end)) return end - last
      end += afterLast
    }
    return -1
  }

  function endsAt(bytes: Uint8Array, end: number): boolean {
    let i = last
    while (i >= 0 && bytes[end - last + i] === needle[i]) i--
    return i < 0
  }
}
