/** Fills a filesystem store without a server. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { forEachConcurrent } from '../../src/async.ts'
import { newId } from '../../src/service/images/ids.ts'
import { blockDigestsOf } from '../../src/stores/filesystem/block-digests.ts'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { encodeTrailer } from '../../src/stores/filesystem/trailer.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { sha256Of } from '../../test/support/sha256.ts'

const CONCURRENCY = 32

const SIZES = Array.from({ length: 200 }, (_, index) => 2048 + 41 * index)

/** Writes `count` images of 2 to 10 kB in the store's format, without fsync. Resolves to their IDs. */
export async function fillStore(folder: string, count: number): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  await (await openFilesystemStore({ folder, hotSetBytes: 0 })).close()
  const images = SIZES.map((size) => {
    const bytes = gif({ size })
    const sha256 = sha256Of(bytes)
    const facts = { type: 'image/gif', size, width: 3, height: 2, animated: false } as const
    const digests = { sha256, sentSha256: sha256, keySha256: sha256 }
    return {
      bytes,
      digests: blockDigestsOf(bytes),
      record: { ...facts, ...digests, createdAt: '2026-07-31T12:00:00.000Z' },
    }
  })
  const ids = Array.from({ length: count }, newId)
  await forEachConcurrent([...ids.entries()], CONCURRENCY, async ([index, id]) => {
    const { bytes, digests, record } = images[index % images.length]!
    const trailer = encodeTrailer({ record: { id, ...record }, digests })
    await writeFile(path.join(folder, 'objects', id), Buffer.concat([bytes, trailer]))
  })
  return ids
}
