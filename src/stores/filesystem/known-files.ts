/**
 * Files that were read lately. A file of a known length can be read in one trip to another thread, and a record that was
 * parsed before need not be parsed again. Nothing is believed of the image itself: its bytes are checked each time.
 */
import type { OpenFile } from './file.ts'
import { decodeTrailer, parseRecord, type Trailer } from './trailer.ts'

export interface KnownFile {
  /** Unit: bytes. */
  readonly size: number
  /** As in `OpenFile`. */
  readonly identity: string
  readonly trailer: Trailer
  /** Its digests and the JSON of its record, as they stand in the file, without the spaces behind them. */
  readonly written: Buffer
  /** Where they stand in the file. Unit: bytes. */
  readonly offset: number
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
        return known !== undefined && startsWith(bytes, jsonOf(known))
          ? known.trailer.record
          : parseRecord(bytes)
      })
      if (trailer === null || trailer.digests === null || trailer.record.id !== id) return trailer
      const isKnown = trailer.record === known?.trailer.record && identity === known.identity
      if (!isKnown && json !== undefined) {
        // A copy: as a part of the tail it would keep all of it.
        const written = Buffer.concat([trailer.digests, trimmed(json)])
        const digests = written.subarray(0, trailer.digests.length)
        const offset = size - tail.length + trailer.digests.byteOffset - tail.byteOffset
        remember(id, { size, identity, trailer: { record: trailer.record, digests }, written, offset })
      }
      return trailer
    },
    forget: (id) => void files.delete(id),
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0
}

function jsonOf({ trailer, written }: KnownFile): Buffer {
  return written.subarray(trailer.digests?.length)
}

function trimmed(json: Buffer): Buffer {
  return json.subarray(0, json.lastIndexOf('}') + 1)
}

/** Whether all of a file, `whole`, has the digests and the record that are known of it, where they were. */
export function isAsKnown(whole: Buffer, { size, written, offset }: KnownFile): boolean {
  return (
    whole.length === size && whole.compare(written, 0, written.length, offset, offset + written.length) === 0
  )
}
