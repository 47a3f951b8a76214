/** Splits PNG and WebP files into chunks and reassembles them. */
import { crc32 } from 'node:zlib'

export interface Chunk {
  type: string
  body: Buffer
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

export function pngChunk(type: string, body: Uint8Array | number[] | string = ''): Chunk {
  return { type, body: typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.from(body) }
}

export function pngChunks(file: Uint8Array): Chunk[] {
  const bytes = Buffer.from(file)
  const chunks: Chunk[] = []
  for (let at = 8; at < bytes.length && chunks.at(-1)?.type !== 'IEND'; ) {
    const length = bytes.readUInt32BE(at)
    chunks.push({
      type: bytes.toString('latin1', at + 4, at + 8),
      body: bytes.subarray(at + 8, at + 8 + length),
    })
    at += 12 + length
  }
  return chunks
}

export function pngOf(chunks: Chunk[]): Buffer {
  const parts = chunks.map(({ type, body }) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), body])
    const out = Buffer.alloc(8 + named.length)
    out.writeUInt32BE(body.length)
    named.copy(out, 4)
    out.writeUInt32BE(crc32(named), 4 + named.length)
    return out
  })
  return Buffer.concat([PNG_SIGNATURE, ...parts])
}

/** Inserts chunks before the first chunk of `type`. */
export function withPngChunks(file: Uint8Array, type: string, ...more: Chunk[]): Buffer {
  const chunks = pngChunks(file)
  chunks.splice(
    chunks.findIndex((chunk) => chunk.type === type),
    0,
    ...more,
  )
  return pngOf(chunks)
}

/** An APNG of the given pictures, which must share size and colour type. The first one is also the default image. */
export function apngOf(pictures: Uint8Array[], options: { firstIsHidden?: boolean } = {}): Buffer {
  const [first, ...others] = pictures.map(pngChunks)
  const header = first!.find(({ type }) => type === 'IHDR')!
  let sequence = 0
  const control = () => {
    const body = Buffer.alloc(26)
    body.writeUInt32BE(sequence++)
    header.body.copy(body, 4, 0, 8)
    body.writeUInt16BE(1, 20)
    body.writeUInt16BE(10, 22)
    return pngChunk('fcTL', body)
  }
  const animation = Buffer.alloc(8)
  animation.writeUInt32BE(options.firstIsHidden ? others.length : pictures.length)
  const out: Chunk[] = []
  for (const chunk of first!) {
    if (chunk.type === 'IEND') break
    const startsPicture = chunk.type === 'IDAT' && !out.some(({ type }) => type === 'IDAT')
    if (startsPicture) out.push(pngChunk('acTL', animation), ...(options.firstIsHidden ? [] : [control()]))
    out.push(chunk)
  }
  for (const picture of others) {
    out.push(control())
    for (const { type, body } of picture) {
      if (type !== 'IDAT') continue
      const number = Buffer.alloc(4)
      number.writeUInt32BE(sequence++)
      out.push(pngChunk('fdAT', Buffer.concat([number, body])))
    }
  }
  return pngOf([...out, pngChunk('IEND')])
}

export function webpChunks(file: Uint8Array, from = 12): Chunk[] {
  const bytes = Buffer.from(file)
  const chunks: Chunk[] = []
  for (let at = from; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4)
    chunks.push({ type: bytes.toString('latin1', at, at + 4), body: bytes.subarray(at + 8, at + 8 + length) })
    at += 8 + length + (length & 1)
  }
  return chunks
}

export function webpOf(chunks: Chunk[]): Buffer {
  const body = webpBody(chunks)
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  head.writeUInt32LE(4 + body.length, 4)
  return Buffer.concat([head, body])
}

export function webpBody(chunks: Chunk[]): Buffer {
  return Buffer.concat(
    chunks.flatMap(({ type, body }) => {
      const head = Buffer.alloc(8)
      head.write(type, 'latin1')
      head.writeUInt32LE(body.length, 4)
      return [head, body, Buffer.alloc(body.length & 1)]
    }),
  )
}

/** Adds or replaces the leading VP8X chunk. `flags`: as in RFC 9649, 2.7. */
export function extendedWebp(
  file: Uint8Array,
  size: { width: number; height: number },
  flags: number,
): Chunk[] {
  const chunks = webpChunks(file).filter(({ type }) => type !== 'VP8X')
  const body = Buffer.alloc(10)
  body[0] = flags
  body.writeUIntLE(size.width - 1, 4, 3)
  body.writeUIntLE(size.height - 1, 7, 3)
  return [{ type: 'VP8X', body }, ...chunks]
}
