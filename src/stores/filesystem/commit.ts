/** From a draft to an image under its id, on the disk. Node only. */
import { open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Segment } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import type { Spool } from '../drafts/spool.ts'
import type { Spooled } from '../drafts/spooled.ts'
import { IdTaken, type ImageRecord } from '../object-store.ts'
import { blockDigestsOf, createBlockDigester } from './block-digests.ts'
import type { PageWriter } from './direct.ts'
import { isThere } from './faults.ts'
import { identityOf } from './file.ts'
import type { FolderFlush } from './folder-flush.ts'
import type { FreshImages } from './fresh.ts'
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
  spool: Spool
  flushes: FolderFlush
  writePages: PageWriter
  fresh: FreshImages
}): Commit {
  const { objects, spool, flushes, writePages, fresh } = parts
  const committing = new Set<string>()

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
    const path = isKept ? file.path : spool.path()
    let identity: string | null = null
    try {
      if (gathered !== null) {
        const digests = blockDigestsOf(gathered.bytes)
        await writePages(path, gathered.append(encodeTrailer({ record, digests }, gathered.bytes.length)))
      } else if (isKept) {
        await file.handle.appendFile(encodeTrailer({ record, digests: Buffer.from(file.digests()) }))
        await file.handle.sync()
      } else await copy(path, spooled, record, segments)
      if (isContended) {
        identity = identityOf(await stat(path))
        await take(path, target, flushes)
      } else if (await isThere(target)) throw new IdTaken()
      else await rename(path, target)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    try {
      await flushes.flush(objects)
    } catch (error) {
      await rm(target, { force: true })
      throw error
    }
    if (gathered !== null) fresh.add({ record, path: target, file: identity, ...gathered.keep() })
  }

  return async (spooled, record, segments, isContended) => {
    const { id } = record
    if (!ID_PATTERN.test(id)) throw new Error('not an id')
    // A rename replaces: the name must be free, and nobody else of this process about to take it. Two processes that
    // draw the same id of 65 random bits, and rename within the same microseconds, are not guarded against; those that
    // derive it are.
    if (committing.has(id)) throw new IdTaken()
    committing.add(id)
    try {
      await commit(spooled, record, segments, isContended)
    } finally {
      committing.delete(id)
    }
  }
}

/** What the segments say, in a new file. */
async function copy(path: string, spooled: Spooled, record: ImageRecord, segments: Segment[]): Promise<void> {
  const digester = createBlockDigester()
  await using handle = await open(path, NEW_FILE, 0o600)
  for await (const piece of spooled.bytes(segments)) {
    digester.update(piece)
    await handle.appendFile(piece)
  }
  await handle.appendFile(encodeTrailer({ record, digests: digester.digests() }))
  await handle.sync()
}
