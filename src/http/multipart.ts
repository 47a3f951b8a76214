/** Streaming parser for a multipart/form-data body that holds exactly one file (RFC 7578; RFC 2046, 5.1.1). */
import { concatBytes } from '../bytes.ts'
import { Refusal } from '../errors.ts'
import { UPLOAD_FIELD } from '../protocol.ts'

/** Length as in RFC 2046, 5.1.1, but more lenient characters: everything that needs no escape in a quoted string. */
const BOUNDARY = /^[ !#-[\]-~]{1,70}$/

/** Limit for everything but the file: preamble, part headers, delimiters, epilogue, unexpected parts. */
export const MAX_OVERHEAD_BYTES = 64 * 1024

/** Far more than browsers send, per part. */
const MAX_PART_HEADER_BYTES = 16 * 1024

const CR = 13
const LF = 10
const HYPHEN = 45

/** The body is malformed. The message is shown to the client. */
class MultipartError extends Error {}

/**
 * Yields the bytes of the part named `file`. The body is known to be valid only when the iteration completes: discard
 * the yielded bytes if it throws. Throws `Refusal` with `not-multipart`, `malformed-multipart`, `missing-file` or
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

/** Buffers at most one delimiter or one part's headers. Not an async generator: each one adds 2.5% to the cost of an upload. */
class FilePart implements AsyncIterator<Uint8Array> {
  readonly #body: AsyncIterator<Uint8Array>
  /** Searches for CRLF, two hyphens and the boundary. */
  readonly #findDelimiter: Search
  readonly #delimiterBytes: number
  #state: 'preamble' | 'delimiter' | 'headers' | 'body' | 'done' = 'preamble'
  /** Bytes that need more input to be parsed. Starts with CRLF, since the first delimiter may come without one. */
  #held: Uint8Array = Uint8Array.of(CR, LF)
  /** Names of the parts so far. */
  readonly #names: string[] = []
  #overheadBytes = 0
  /** File bytes that were parsed but not yet yielded. */
  readonly #parsed: Uint8Array[] = []

  constructor(boundary: string, body: AsyncIterator<Uint8Array>) {
    const delimiter = new TextEncoder().encode(`\r\n--${boundary}`)
    this.#body = body
    this.#findDelimiter = searchFor(delimiter)
    this.#delimiterBytes = delimiter.length
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      for (;;) {
        const parsed = this.#parsed.shift()
        if (parsed !== undefined) return { done: false, value: parsed }
        this.#assertOverheadWithinLimit()
        const chunk = await this.#body.next()
        if (chunk.done) break
        this.#overheadBytes += chunk.value.length
        this.#read(chunk.value)
      }
      if (this.#state !== 'done') throw new MultipartError('it ended before the closing boundary')
    } catch (error) {
      await this.return()
      if (!(error instanceof MultipartError)) throw error
      throw new Refusal('malformed-multipart', `The multipart body cannot be parsed: ${error.message}.`)
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

  #assertOverheadWithinLimit(): void {
    if (this.#overheadBytes <= MAX_OVERHEAD_BYTES) return
    throw this.#names.length > 0
      ? unexpectedField()
      : new MultipartError('it contains too much data besides the file')
  }

  #read(chunk: Uint8Array): void {
    let bytes: Uint8Array | null = this.#prependHeld(chunk)
    while (bytes !== null) bytes = this.#step(bytes)
  }

  /** The held bytes followed by the chunk. Copies only the seam where possible, not the chunk. */
  #prependHeld(chunk: Uint8Array): Uint8Array {
    const held = this.#held
    if (held.length === 0) return chunk
    const isSkipping = this.#state === 'body' || this.#state === 'preamble'
    if (!isSkipping || held.length >= this.#delimiterBytes || chunk.length < this.#delimiterBytes) {
      return concatBytes(held, chunk)
    }
    const seam = concatBytes(held, chunk.subarray(0, this.#delimiterBytes - 1))
    const at = this.#findDelimiter(seam)
    this.#emit(held.subarray(0, at < 0 ? held.length : at))
    if (at < 0) return chunk
    this.#state = 'delimiter'
    return chunk.subarray(at + this.#delimiterBytes - held.length)
  }

  /** Returns the bytes left after one step, or `null` when more input is needed. */
  #step(bytes: Uint8Array): Uint8Array | null {
    switch (this.#state) {
      case 'preamble':
      case 'body':
        return this.#skipTo(bytes)
      case 'delimiter':
        return this.#finishDelimiter(bytes)
      case 'headers':
        return this.#readHeaders(bytes)
      case 'done':
        // Ignores the epilogue (RFC 2046, 5.1.1).
        return this.#hold(new Uint8Array(0))
    }
  }

  #hold(bytes: Uint8Array): null {
    // A copy: the source may reuse the chunk's memory.
    this.#held = new Uint8Array(bytes)
    return null
  }

  /** Queues part content to be yielded, if the current part is the file. */
  #emit(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#state !== 'body' || this.#names.at(-1) !== UPLOAD_FIELD) return
    this.#overheadBytes -= bytes.length
    this.#parsed.push(bytes)
  }

  /** Consumes bytes up to and including the next delimiter. */
  #skipTo(bytes: Uint8Array): Uint8Array | null {
    const at = this.#findDelimiter(bytes)
    const end = at < 0 ? Math.max(0, bytes.length - this.#delimiterBytes + 1) : at
    this.#emit(bytes.subarray(0, end))
    if (at < 0) return this.#hold(bytes.subarray(end))
    this.#state = 'delimiter'
    return bytes.subarray(at + this.#delimiterBytes)
  }

  /** Consumes the rest of a delimiter line: two hyphens close the form; padding may precede CRLF. */
  #finishDelimiter(bytes: Uint8Array): Uint8Array | null {
    if (bytes.length < 2) return this.#hold(bytes)
    if (bytes[0] === HYPHEN && bytes[1] === HYPHEN) {
      this.#state = 'done'
      return bytes.subarray(2)
    }
    let at = 0
    while (at < bytes.length && (bytes[at] === 32 || bytes[at] === 9)) at++
    if (at > MAX_PART_HEADER_BYTES) throw new MultipartError('a delimiter line is too long')
    if (bytes.length < at + 2) return this.#hold(bytes)
    if (bytes[at] !== CR || bytes[at + 1] !== LF)
      throw new MultipartError('a delimiter line does not end with CRLF')
    this.#state = 'headers'
    // Keeps the CRLF, so that a part without headers still has CRLF CRLF in front of its content.
    return bytes.subarray(at)
  }

  /** Consumes the part's headers up to and including the empty line. */
  #readHeaders(bytes: Uint8Array): Uint8Array | null {
    const at = findEmptyLine(bytes)
    if (at > MAX_PART_HEADER_BYTES || (at < 0 && bytes.length > MAX_PART_HEADER_BYTES)) {
      throw new MultipartError('the headers of a part are too long')
    }
    if (at < 0) return this.#hold(bytes)
    const name = parsePartName(bytes.subarray(2, Math.max(2, at)))
    if (name === null) throw new MultipartError('a part has no "Content-Disposition: form-data" with a name')
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
    'The multipart boundary is missing, longer than 70 characters, or contains characters that are not allowed.',
  )
}

function unexpectedField(): Refusal {
  return new Refusal('unexpected-field', 'Send exactly one field, named "file", and nothing else.')
}

const EMPTY_LINE = Uint8Array.of(CR, LF, CR, LF)
const findEmptyLine = searchFor(EMPTY_LINE)

/** The field name in the part's `Content-Disposition`. Other headers are ignored, but must be well-formed. */
function parsePartName(headers: Uint8Array): string | null {
  const text = new TextDecoder().decode(headers).replace(/\r\n[ \t]+/g, ' ')
  let disposition: string | undefined
  for (const line of text.split('\r\n')) {
    const header = /^([!#-'*+.^-z|~0-9A-Z-]+):([^\0]*)$/.exec(line)
    if (header === null && line !== '') throw new MultipartError('a part has a malformed header line')
    if (header?.[1]?.toLowerCase() === 'content-disposition') disposition ??= header[2]
  }
  return fieldName(disposition)
}

/** A header parameter; the value may be quoted. Browsers put raw UTF-8 into quoted file names. */
const PARAMETER = /\s*;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;"]*))/y

/**
 * The `name` parameter of a form-data Content-Disposition (RFC 7578, 4.2). `null` when it is missing or repeated. Other
 * parameters, such as the file name, are ignored.
 */
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

/** Returns the offset of the needle, or -1. */
type Search = (bytes: Uint8Array) => number

/**
 * Horspool's search (Practical fast searching in strings, 1980): examines as few as one byte in `needle.length` when the
 * input shares no bytes with the needle.
 */
function searchFor(needle: Uint8Array): Search {
  const last = needle.length - 1
  const shift = new Uint8Array(256).fill(needle.length)
  for (let i = 0; i < last; i++) shift[needle[i]!] = last - i
  const afterLast = shift[needle[last]!]!
  // 0 for the needle's last byte only, so that every other byte is skipped with a single lookup.
  const skip = shift.with(needle[last]!, 0)

  return (bytes) => {
    for (let end = last; end < bytes.length; ) {
      const step = skip[bytes[end]!]!
      if (step > 0) {
        end += step
        continue
      }
      // A delimiter contains its first byte only once, so a body full of near misses stays cheap.
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
