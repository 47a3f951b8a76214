/** Encodes multipart/form-data (RFC 7578), including malformed variants that no client would send. */

export interface Part {
  name?: string
  filename?: string
  type?: string
  /** Replaces the header lines that `name`, `filename` and `type` produce. Latin-1. */
  lines?: string[]
  body: Uint8Array | string
}

export interface Form {
  body: Buffer
  contentType: string
}

export interface FormOptions {
  boundary?: string
  /** The boundary as written in Content-Type, if it must be quoted. */
  parameter?: string
  preamble?: string
  epilogue?: string
}

export function multipart(parts: Part[], options: FormOptions = {}): Form {
  const { boundary = 'pinhole-test-boundary', preamble = '', epilogue = '' } = options
  const pieces: (Uint8Array | string)[] = [preamble]
  for (const part of parts) {
    pieces.push(`--${boundary}\r\n`, head(part), '\r\n\r\n', part.body, '\r\n')
  }
  pieces.push(`--${boundary}--\r\n`, epilogue)
  return {
    body: Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))),
    contentType: `multipart/form-data; boundary=${options.parameter ?? boundary}`,
  }
}

/** The upload form of the public interface. */
export function formOf(bytes: Uint8Array): Form {
  return multipart([{ name: 'file', filename: 'picture.bin', type: 'application/octet-stream', body: bytes }])
}

function head(part: Part): Buffer {
  if (part.lines) return Buffer.from(part.lines.join('\r\n'), 'latin1')
  const name = part.name === undefined ? '' : `; name="${part.name}"`
  const filename = part.filename === undefined ? '' : `; filename="${part.filename}"`
  const type = part.type === undefined ? '' : `\r\nContent-Type: ${part.type}`
  return Buffer.from(`Content-Disposition: form-data${name}${filename}${type}`)
}
