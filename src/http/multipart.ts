/** The one file of a multipart/form-data body (RFC 7578), as a stream. */
import { type MultipartError, make as makeParser } from 'multipasta'
import { Refusal } from '../errors.ts'
import { UPLOAD_FIELD } from '../protocol.ts'
import { fieldName } from './field-name.ts'

/** The longest boundary that RFC 2046, 5.1.1 allows. */
const MAX_BOUNDARY_LENGTH = 70

/** More characters than RFC 2046, 5.1.1 allows: all that need no escape in a quoted string. */
const BOUNDARY = /^[ !#-[\]-~]{1,70}$/

/** All that is not the file: preamble, part headers, boundaries, epilogue, parts that are about to be refused. */
const MAX_OVERHEAD_BYTES = 64 * 1024

/** At least a whole delimiter line: CRLF, two hyphens, the boundary, two hyphens, CRLF. */
const DELIMITER_BYTES = MAX_BOUNDARY_LENGTH + 8

/**
 * The bytes of the part named `file`, and then the proof that nothing else was in the body: what is yielded counts
 * only when the iteration ends. Throws `Refusal` with `not-multipart`, `malformed-multipart`, `missing-file` or
 * `unexpected-field`.
 */
export async function* filePart(
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const boundary = boundaryOf(contentType)
  const parts = new PartReader(boundary)
  let bodyBytes = 0
  for await (const piece of undivided(body, new TextEncoder().encode(`\r\n--${boundary}`))) {
    bodyBytes += piece.length
    yield* parts.read(piece)
    if (bodyBytes - parts.fileBytes > MAX_OVERHEAD_BYTES) throw parts.refuseOverhead()
  }
  yield* parts.end()
}

function boundaryOf(contentType: string | undefined): string {
  if (contentType === undefined || !/^multipart\/form-data\s*(;|$)/i.test(contentType)) {
    throw new Refusal('not-multipart', 'Send the image as multipart/form-data, in one field named "file".')
  }
  const match = /;\s*boundary=(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;"]+))/i.exec(contentType)
  const boundary = match?.[1]?.replace(/\\([\s\S])/g, '$1') ?? match?.[2] ?? ''
  if (!BOUNDARY.test(boundary)) {
    throw malformed('its boundary is missing, longer than 70 characters, or no text')
  }
  return boundary
}

class PartReader {
  /** Of the file part, so far. */
  fileBytes = 0
  #chunks: Uint8Array[] = []
  #refusal: Refusal | null = null
  #files = 0
  #others = 0
  #isDone = false
  readonly #parser: ReturnType<typeof makeParser>

  constructor(boundary: string) {
    this.#parser = makeParser({
      // Written anew: the parser wants a stricter syntax than RFC 9110, 5.6.6.
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      isFile: () => true,
      // The parser's own reading of the header fails for names beyond Latin-1.
      onFile: (info) => this.#startPart(fieldName(info.headers['content-disposition'])),
      onField: () => {},
      onError: (error) => this.#fail(error),
      onDone: () => {
        this.#isDone = true
      },
    })
  }

  #startPart(name: string | null): (chunk: Uint8Array | null) => void {
    if (this.#isDone) return () => {}
    if (name === null) this.#refusal ??= malformed('a part has no name')
    if (name === UPLOAD_FIELD) this.#files++
    else this.#others++
    if (this.#files > 1 || (this.#files === 1 && this.#others > 0)) this.#refusal ??= unexpectedField()
    if (name !== UPLOAD_FIELD) return () => {}
    return (chunk) => {
      if (chunk === null || chunk.length === 0) return
      this.fileBytes += chunk.length
      this.#chunks.push(chunk)
    }
  }

  #fail(error: MultipartError): void {
    // What follows the closing delimiter is no part of the form (RFC 2046, 5.1.1), whatever it is.
    if (this.#isDone) return
    this.#refusal ??= error._tag === 'EndNotReached' ? cutOff() : malformed(`${error._tag}`)
  }

  read(piece: Uint8Array): Uint8Array[] {
    if (this.#isDone) return []
    try {
      this.#parser.write(piece)
    } catch {
      throw malformed('a part has headers that can not be read')
    }
    if (this.#refusal !== null) throw this.#refusal
    return this.#chunks.splice(0)
  }

  end(): Uint8Array[] {
    try {
      this.#parser.end()
    } catch {
      throw malformed('a part has headers that can not be read')
    }
    if (this.#refusal !== null) throw this.#refusal
    if (!this.#isDone) throw cutOff()
    if (this.#files === 0) throw new Refusal('missing-file', 'The form has no field named "file".')
    return this.#chunks.splice(0)
  }

  refuseOverhead(): Refusal {
    return this.#others > 0 ? unexpectedField() : malformed('it holds too much besides the file')
  }
}

/**
 * The same bytes in pieces that never divide a delimiter line. The parser finds a delimiter that is divided between
 * two pieces, but takes its closing hyphens or its line end for data if those are.
 */
async function* undivided(
  body: AsyncIterable<Uint8Array>,
  delimiter: Uint8Array,
): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array = new Uint8Array(0)
  for await (const chunk of body) {
    const bytes = kept.length === 0 ? chunk : concatenate(kept, chunk)
    const end = Math.max(0, bytes.length - DELIMITER_BYTES)
    const from = lastIndexOf(bytes, delimiter, Math.max(0, end - DELIMITER_BYTES), end) ?? end
    if (from > 0) yield bytes.subarray(0, from)
    kept = bytes.subarray(from)
  }
  if (kept.length > 0) yield kept
}

/** Where `needle` starts last in `bytes` from `start` on and before `end`, or `undefined`. */
function lastIndexOf(bytes: Uint8Array, needle: Uint8Array, start: number, end: number): number | undefined {
  for (let at = Math.min(end - 1, bytes.length - needle.length); at >= start; at--) {
    let matched = 0
    while (matched < needle.length && bytes[at + matched] === needle[matched]) matched++
    if (matched === needle.length) return at
  }
  return undefined
}

function concatenate(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}

function cutOff(): Refusal {
  return malformed('it was cut off before its end')
}

function malformed(why: string): Refusal {
  return new Refusal('malformed-multipart', `The multipart body can not be read: ${why}.`)
}

function unexpectedField(): Refusal {
  return new Refusal('unexpected-field', 'Send exactly one field named "file", and nothing besides it.')
}
