/** Whether the bytes read from an image's file are those that were stored. */
import { createHash, type Hash } from 'node:crypto'
import { PIECE_BYTES } from '../../formats/image.ts'
import { type ContentRange, DamagedObject, type Signal } from '../object-store.ts'
import { BLOCK_BYTES, matchesDigests } from './block-digests.ts'
import { CutShort, type OpenFile, readFully } from './file.ts'
import type { Trailer } from './trailer.ts'

/** Checks a run of an image piece by piece, in order. */
export interface RunCheck {
  /** The bytes to be read, all of them, for those that are wanted: whole blocks, where blocks have digests. */
  readonly run: ContentRange
  /** The usual length of what is read and checked at a time: whole blocks, but for the last piece. */
  readonly pieceBytes: number
  /** Whether pieces may also be longer, or fewer blocks: blocks are checked faster than they are read. */
  readonly mayGrow: boolean
  /** Throws `DamagedObject`. */
  check(piece: Uint8Array, at: number): void
}

/** `pieceBytes`: whole blocks. */
export async function checkRun(
  file: OpenFile,
  { record, digests }: Trailer,
  wanted: ContentRange,
  pieceBytes: number,
  signal?: Signal,
): Promise<RunCheck> {
  const end = record.size - 1
  if (digests !== null) {
    const first = wanted.first - (wanted.first % BLOCK_BYTES)
    const last = Math.min(end, wanted.last - (wanted.last % BLOCK_BYTES) + BLOCK_BYTES - 1)
    return {
      run: { first, last },
      pieceBytes,
      mayGrow: true,
      check(piece, at) {
        if (!matchesDigests(piece, digests, at / BLOCK_BYTES)) throw new DamagedObject(record.id)
      },
    }
  }
  // The older layout has one digest, of the whole image.
  if (wanted.first > 0 || wanted.last < end) {
    await assertSha256(file, record, { signal })
    return { run: wanted, pieceBytes, mayGrow: false, check: () => {} }
  }
  const hash = createHash('sha256')
  return {
    run: wanted,
    pieceBytes: Math.min(pieceBytes, PIECE_BYTES),
    mayGrow: false,
    check(piece, at) {
      hash.update(piece)
      if (at + piece.length > end) assertDigest(hash, record)
    },
  }
}

/** Reads all of an image, in pieces. Throws `DamagedObject`, and what `signal` says. */
export async function assertSha256(
  file: OpenFile,
  record: Trailer['record'],
  { signal, onPiece }: { signal?: Signal | undefined; onPiece?: (piece: Uint8Array) => void },
): Promise<void> {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, record.size))
  try {
    for (let at = 0; at < record.size; at += piece.length) {
      assertWanted(signal)
      const read = await readFully(file, at, piece.subarray(0, record.size - at))
      hash.update(read)
      onPiece?.(read)
    }
  } catch (error) {
    throw error instanceof CutShort ? new DamagedObject(record.id, { cause: error }) : error
  }
  assertDigest(hash, record)
}

function assertDigest(hash: Hash, { id, sha256 }: Trailer['record']): void {
  if (hash.digest('hex') !== sha256) throw new DamagedObject(id)
}

/** Throws an `AbortError` once nobody waits any more. */
export function assertWanted(signal: Signal | undefined): void {
  if (signal?.aborted) throw new DOMException('the reader is gone', 'AbortError')
}
