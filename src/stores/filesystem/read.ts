/** Reads images from their files, and gives out no byte whose block changed. Node only. */
import { PIECE_BYTES } from '../../formats/image.ts'
import {
  type ContentRange,
  DamagedObject,
  type ImageRecord,
  resolveRange,
  type Selection,
  type Signal,
  type StoredImage,
} from '../object-store.ts'
import { type ReadCachedImage, readCachedImages } from './cached.ts'
import { assertWanted, checkRun } from './check.ts'
import { isCode, storeFault } from './faults.ts'
import { CutShort, closeFile, type OpenFile, openFile, openKnownFile, readFully, readSoon } from './file.ts'
import type { HotSet } from './hot-set.ts'
import { createKnownFiles, type KnownFiles } from './known-files.ts'
import { readInOneTrip } from './one-trip.ts'
import { createReadBlocks, type ReadBlocks } from './read-blocks.ts'
import { streamRun } from './stream.ts'
import { decodeInterrupted, decodeTrailer, type Trailer, tailLength } from './trailer.ts'

/** Files up to this size are read whole, whatever is wanted of them. Unit: bytes. */
const SMALL_FILE_BYTES = 16 * 1024

/** Of a stream: two blocks, so that a client that reads slowly holds little. Unit: bytes. */
const STREAMED_BYTES = 128 * 1024

/** Of what is read into memory to stay there: each is checked on its own, so that no check takes long. Unit: bytes. */
const KEPT_PIECE_BYTES = 1024 * 1024

export interface ImageReader {
  /** `null` if there is none. */
  head(path: string, id: string): Promise<ImageRecord | null>
  /** As `ObjectStore.open`. */
  open(path: string, id: string, selection?: Selection, signal?: Signal): Promise<StoredImage | null>
  readonly cached: ReadCachedImage
  /** What it knows of a file that is gone. */
  forget(id: string): void
}

/** An image that is being opened. */
interface Opening {
  file: OpenFile
  id: string
  path: string
  signal: Signal | undefined
  /** Leaves the file open: it is closed with the stream. */
  keepOpen(): void
}

/** `hotSet`: takes in images that are read whole. */
export function createImageReader(hotSet: HotSet | null): ImageReader {
  const blocks = createReadBlocks()
  const known = createKnownFiles()
  const inOneTrip = readInOneTrip(known, hotSet)
  const cached = readCachedImages(known, hotSet, blocks)

  async function withFile<T>(
    path: string,
    id: string,
    use: (file: OpenFile, keepOpen: () => void) => Promise<T>,
  ): Promise<T | null> {
    let isKept = false
    let file: OpenFile | undefined
    try {
      file = await (known.get(id) === undefined ? openFile(path) : openKnownFile(path))
      return await use(file, () => {
        isKept = true
      })
    } catch (error) {
      if (error instanceof CutShort) throw new DamagedObject(id, { cause: error })
      if (!isCode(error, 'ENOENT')) storeFault(error)
      known.forget(id)
      return null
    } finally {
      if (file !== undefined && !isKept) closeFile(file)
    }
  }

  async function open(opening: Opening, selection: Selection): Promise<StoredImage | null> {
    const { file, id } = opening
    if (knownTrailer(file, id) === undefined) {
      if (selection === 'all' && isSmall(file.size)) {
        return (await keepInMemory(opening)) ?? readSmall(opening, selection)
      }
      if (file.size <= SMALL_FILE_BYTES) return readSmall(opening, selection)
    }
    const trailer = await trailerOf(file, id)
    if (trailer === null) return null
    const { record } = trailer
    const part = partOf(record, selection)
    if (part === 'nothing') return { record, body: NOTHING }
    if (part === undefined) {
      const kept = await keepInMemory(opening, trailer)
      if (kept !== null) return kept
    }
    return readPart(opening, trailer, part, blocks)
  }

  function knownTrailer({ identity, size }: OpenFile, id: string): Trailer | undefined {
    const seen = known.get(id)
    return seen !== undefined && seen.identity === identity && seen.size === size ? seen.trailer : undefined
  }

  async function trailerOf(file: OpenFile, id: string): Promise<Trailer | null> {
    return knownTrailer(file, id) ?? readTrailer(file, id, known.decode)
  }

  function trailerIn(whole: Buffer, file: OpenFile, id: string): Trailer | null {
    const tail = whole.subarray(whole.length - tailLength(whole.length))
    return ownTrailer(known.decode(tail, file, id) ?? decodeInterrupted(whole, whole.length), id)
  }

  /** `null` if memory has no room for it, or the file is another id's. */
  async function keepInMemory(opening: Opening, read?: Trailer): Promise<StoredImage | null> {
    const { file, id, path } = opening
    if (hotSet === null || !hotSet.reserve(file.size)) return null
    let isKept = false
    try {
      const whole = Buffer.allocUnsafeSlow(file.size)
      const trailer = read ?? trailerIn(await readSoon(file, 0, whole), file, id)
      if (trailer === null) return null
      const bytes = whole.subarray(0, trailer.record.size)
      await readChecked(opening, trailer, bytes, read === undefined)
      isKept = true
      const stored = { record: trailer.record, body: bytes }
      return (
        hotSet.lend(hotSet.add({ stored, path, file: file.identity, reservedBytes: file.size })) ?? stored
      )
    } finally {
      if (!isKept) hotSet.unreserve(file.size)
    }
  }

  /** The whole file in one read. */
  async function readSmall({ file, id }: Opening, selection: Selection): Promise<StoredImage | null> {
    const { bytes: whole, give: release } = blocks.take(file.size)
    await readSoon(file, 0, whole)
    const trailer = trailerIn(whole, file, id)
    const part = trailer === null ? 'nothing' : partOf(trailer.record, selection)
    if (trailer === null || part === 'nothing') {
      release()
      return trailer === null ? null : { record: trailer.record, body: NOTHING }
    }
    const { record } = trailer
    const { first, last } = part ?? { first: 0, last: record.size - 1 }
    const { run, check } = await checkRun(file, trailer, { first, last }, PIECE_BYTES)
    check(whole.subarray(run.first, run.last + 1), run.first)
    return { record, range: part, body: whole.subarray(first, last + 1), release }
  }

  return {
    head: (path, id) => withFile(path, id, async (file) => (await trailerOf(file, id))?.record ?? null),
    open(path, id, selection = 'all', signal) {
      const openIt = () =>
        withFile(path, id, (file, keepOpen) => open({ file, id, path, signal, keepOpen }, selection))
      const file = selection === 'all' ? known.get(id) : undefined
      return file !== undefined && inOneTrip.suits(file) ? inOneTrip.open(path, id, file, openIt) : openIt()
    },
    cached,
    forget: known.forget,
  }
}

/** Of a file that is read whole and at once, if all of it is wanted. */
function isSmall(fileBytes: number): boolean {
  return fileBytes <= PIECE_BYTES + tailLength(PIECE_BYTES)
}

const NOTHING = new Uint8Array()

/** `undefined` for all of it. Throws `UnsatisfiableRange`. */
function partOf(record: ImageRecord, selection: Selection): ContentRange | 'nothing' | undefined {
  const wanted = typeof selection === 'function' ? selection(record) : selection
  if (wanted === 'nothing') return wanted
  return wanted === 'all' ? undefined : resolveRange(wanted, record.size)
}

/** `null` if the file belongs to another id: some file systems ignore case. Throws `DamagedObject`. */
export async function readTrailer(
  file: OpenFile,
  id: string,
  decode: KnownFiles['decode'] = (tail, { size }) => decodeTrailer(tail, size),
): Promise<Trailer | null> {
  const length = tailLength(file.size)
  const tail = await readSoon(file, file.size - length, Buffer.allocUnsafe(length))
  const trailer = decode(tail, file, id)
  return trailer === null ? readInterrupted(file, id) : ownTrailer(trailer, id)
}

async function readInterrupted(file: OpenFile, id: string): Promise<Trailer | null> {
  const length = Math.min(file.size, 2 * tailLength(file.size))
  const tail = await readSoon(file, file.size - length, Buffer.allocUnsafe(length))
  return ownTrailer(decodeInterrupted(tail, file.size), id)
}

function ownTrailer(trailer: Trailer | null, id: string): Trailer | null {
  if (trailer === null) throw new DamagedObject(id)
  return trailer.record.id === id ? trailer : null
}

/** Fills `bytes`, all of an image, unless they are read already. */
async function readChecked(
  { file, signal }: Opening,
  trailer: Trailer,
  bytes: Buffer,
  isRead: boolean,
): Promise<void> {
  const all = { first: 0, last: bytes.length - 1 }
  const { pieceBytes, check } = await checkRun(file, trailer, all, KEPT_PIECE_BYTES)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    if (!isRead) {
      assertWanted(signal)
      await readFully(file, at, piece)
    }
    check(piece, at)
  }
}

async function readPart(
  { file, id, signal, keepOpen }: Opening,
  trailer: Trailer,
  part: ContentRange | undefined,
  blocks: ReadBlocks,
): Promise<StoredImage> {
  const { record } = trailer
  const wanted = part ?? { first: 0, last: record.size - 1 }
  const run = await checkRun(file, trailer, wanted, STREAMED_BYTES, signal)
  if (wanted.last - wanted.first >= PIECE_BYTES) {
    keepOpen()
    return { record, range: part, ...streamRun(file, id, run, wanted, blocks) }
  }
  const { first, last } = run.run
  const { bytes, give: release } = blocks.take(last + 1 - first)
  await readSoon(file, first, bytes)
  run.check(bytes, first)
  const body = bytes.subarray(wanted.first - first, wanted.last + 1 - first)
  return { record, range: part, body, release }
}
