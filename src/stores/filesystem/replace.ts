/** Puts a sound image in place of a damaged one: a rename over it, which is atomic. Node only. */
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Segment } from '../../formats/image.ts'
import { ID_PATTERN } from '../../protocol.ts'
import type { Spool } from '../drafts/spool.ts'
import type { Spooled } from '../drafts/spooled.ts'
import { DamagedObject, type ImageRecord } from '../object-store.ts'
import { writeImage } from './commit.ts'
import type { FolderFlush } from './folder-flush.ts'

export function createReplace(parts: {
  objects: string
  held: string
  spool: Spool
  flushes: FolderFlush
  reader: { head(path: string, id: string): Promise<ImageRecord | null> }
  /** Takes it out of memory. */
  forget: (id: string) => void
}) {
  const { objects, held, spool, flushes, reader, forget } = parts

  /** On a file system that ignores case another image may answer to this name. */
  async function isIn(folder: string, id: string): Promise<boolean> {
    try {
      return (await reader.head(join(folder, id), id)) !== null
    } catch (error) {
      if (error instanceof DamagedObject) return true
      throw error
    }
  }

  return async (
    spooled: Spooled,
    record: ImageRecord,
    segments: Segment[],
  ): Promise<'visible' | 'held' | null> => {
    const { id } = record
    if (!ID_PATTERN.test(id)) return null
    const isVisible = await isIn(objects, id)
    if (!isVisible && !(await isIn(held, id))) return null
    const folder = isVisible ? objects : held
    const path = spool.path()
    try {
      await writeImage(path, spooled, record, segments)
      await rename(path, join(folder, id))
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    forget(id)
    await flushes.flush(folder)
    return isVisible ? 'visible' : 'held'
  }
}
