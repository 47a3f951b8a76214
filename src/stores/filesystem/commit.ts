/** From a draft to an image under its id, on the disk. Node only. */
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Segment } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import type { Spool } from '../drafts/spool.ts'
import type { Spooled } from '../drafts/spooled.ts'
import { DamagedObject, IdTaken, type ImageRecord } from '../object-store.ts'
import { blockDigestsOf, createBlockDigester, matchesDigests } from './block-digests.ts'
import type { PageWriter } from './direct.ts'
import { isThere } from './faults.ts'
import type { FolderFlush } from './folder-flush.ts'
import type { FreshImages } from './fresh.ts'
import { draftSuffix } from './retire.ts'
import { take } from './take.ts'
import { encodeTrailer } from './trailer.ts'
import { NEW_FILE } from './write.ts'

export type Commit = (
  spooled: Spooled,
  record: ImageRecord,
  segments: Segment[],
  isContended: boolean,
) => Promise<void>

export function createCommit(parts: {
  objects: string
  held: string
  retired: string
  spool: Spool
  flushes: FolderFlush
  writePages: PageWriter
  fresh: FreshImages
}): { commit: Commit; settled(id: string): Promise<void> } {
  const { objects, held, retired, spool, flushes, writePages, fresh } = parts
  /** By id. They do not reject. */
  const underWay = new Map<string, Promise<void>>()

  async function commit(
    spooled: Spooled,
    record: ImageRecord,
    segments: Segment[],
    isContended: boolean,
  ): Promise<void> {
    const target = join(objects, record.id)
    const gathered = spooled.gather(segments)
    const { file } = spooled
    const isKept = file !== null && record.size === spooled.size && record.sha256 === record.sentSha256
    const path = (isKept ? file.path : spool.path()) + (isContended ? draftSuffix(record.id) : '')
    let identity: string | null = null
    const room = gathered === null ? fresh.room(record.size) : null
    try {
      // Beside the write: a round trip to the thread pool of its own would add 40 µs to an upload.
      const isTaken = isContended ? false : isThere(target)
      if (gathered !== null) {
        const digests = blockDigestsOf(gathered.bytes)
        await writePages(path, gathered.append(encodeTrailer({ record, digests }, gathered.bytes.length)))
      } else if (isKept) {
        if (isContended) await rename(file.path, path)
        const digests = Buffer.from(file.digests())
        await file.handle.appendFile(encodeTrailer({ record, digests }))
        // While the disk is at work the bytes are still in the kernel's memory.
        await Promise.all([
          file.handle.sync(),
          room === null ? null : readBack(file.handle, room.bytes, record, digests),
        ])
      } else await writeImage(path, spooled, record, segments, room?.bytes)
      if (isContended) {
        const taken = [join(retired, record.id), join(held, record.id)]
        identity = await take(path, target, { taken, flushes })
      } else {
        if (await isTaken) throw new IdTaken()
        await rename(path, target)
      }
    } catch (error) {
      room?.release()
      await rm(path, { force: true })
      throw error
    }
    try {
      await flushes.flush(objects)
    } catch (error) {
      room?.release()
      await rm(target, { force: true })
      throw error
    }
    if (room !== null) {
      room.release()
      const { bytes } = room
      fresh.add({ record, path: target, file: identity, bytes, heldBytes: bytes.length, giveBack: () => {} })
    }
    if (gathered !== null) fresh.add({ record, path: target, file: identity, ...gathered.keep() })
  }

  async function commitAlone(
    spooled: Spooled,
    record: ImageRecord,
    segments: Segment[],
    isContended: boolean,
  ): Promise<void> {
    const { id } = record
    if (!ID_PATTERN.test(id)) throw new Error('not an id')
    // A rename replaces: the name must be free, and nobody else of this process about to take it. Two processes that
    // draw the same id of 65 random bits, and write their images at the same moment, are not guarded against; those
    // that derive it are.
    if (underWay.has(id)) throw new IdTaken()
    const done = commit(spooled, record, segments, isContended).finally(() => underWay.delete(id))
    underWay.set(
      id,
      done.catch(() => {}),
    )
    await done
  }

  return {
    commit: commitAlone,
    /** Resolves when no commit of this process is about to give the id a file, or to take it away again. */
    settled: async (id) => underWay.get(id),
  }
}

/** An image from the file that it was just written to. Throws if it is not what was written. */
async function readBack(
  handle: FileHandle,
  into: Buffer<ArrayBuffer>,
  { id }: ImageRecord,
  digests: Buffer,
): Promise<void> {
  for (let filled = 0; filled < into.length; ) {
    const { bytesRead } = await handle.read(into, filled, into.length - filled, filled)
    if (bytesRead === 0) throw new DamagedObject(id)
    filled += bytesRead
  }
  if (!matchesDigests(into, digests, 0)) throw new DamagedObject(id)
}

/** What the segments say, in a new file on the disk, and in memory if there is room. */
export async function writeImage(
  path: string,
  spooled: Spooled,
  record: ImageRecord,
  segments: Segment[],
  memory?: Buffer<ArrayBuffer>,
): Promise<void> {
  const digester = createBlockDigester()
  let at = 0
  await using handle = await open(path, NEW_FILE, 0o600)
  for await (const piece of spooled.bytes(segments)) {
    digester.update(piece)
    memory?.set(piece, at)
    at += piece.length
    await handle.appendFile(piece)
  }
  await handle.appendFile(encodeTrailer({ record, digests: digester.digests() }))
  await handle.sync()
}
