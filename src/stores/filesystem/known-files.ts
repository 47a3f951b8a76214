/**
 * Files that were read lately. A file of a known length can be read in one trip to another thread, and a record that was
 * parsed before need not be parsed again. Nothing is believed of the image itself: its bytes are checked each time.
 */
import type { OpenFile } from './file.ts'
import { decodeTrailer, parseRecord, type Trailer } from './trailer.ts'

export interface KnownFile {
  /** Unit: bytes. */
  readonly size: number
  /** As in `OpenFile`. Empty: not known. */
  readonly identity: string
  readonly trailer: Trailer
  /** The JSON of its record, without the spaces behind it. */
  readonly json: Buffer
}

export interface KnownFiles {
  get(id: string): KnownFile | undefined
  /** As `decodeTrailer`. Remembers a file of the latest layout, if its record is of this id. */
  decode(tail: Buffer, file: Pick<OpenFile, 'size' | 'identity'>, id: string): Trailer | null
  forget(id: string): void
}

/** Of about a kilobyte each. The oldest goes first. */
const MOST_FILES = 4096

export function createKnownFiles(): KnownFiles {
  const files = new Map<string, KnownFile>()

  function remember(id: string, file: KnownFile): void {
    files.delete(id)
    files.set(id, file)
    if (files.size <= MOST_FILES) return
    for (const oldest of files.keys()) return void files.delete(oldest)
  }

  return {
    get: (id) => files.get(id),
    decode(tail, { size, identity }, id) {
      const known = files.get(id)
      let json: Buffer | undefined
      const trailer = decodeTrailer(tail, size, (bytes) => {
        json = bytes
        // What is behind it are spaces, or the checksum would be another one.
        return known !== undefined && startsWith(bytes, known.json)
          ? known.trailer.record
          : parseRecord(bytes)
      })
      if (trailer === null || trailer.digests === null || trailer.record.id !== id) return trailer
      const isKnown =
        trailer.record === known?.trailer.record && (identity === '' || identity === known.identity)
      // Copies: as parts of the tail they would keep all of it.
      if (!isKnown && json !== undefined) {
        const kept = { record: trailer.record, digests: Buffer.from(trailer.digests) }
        remember(id, { size, identity, trailer: kept, json: trimmed(json) })
      }
      return trailer
    },
    forget: (id) => void files.delete(id),
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0
}

function trimmed(json: Buffer): Buffer {
  return Buffer.from(json.subarray(0, json.lastIndexOf('}') + 1))
}
