/** Fills a data folder through the store itself, without a server. */
import { createHash } from 'node:crypto'
import { wholeOf } from '../../src/formats/image.ts'
import { newId } from '../../src/service/images/ids.ts'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { noisePictures } from '../load/pictures.ts'

const AT_ONCE = 64
const PICTURES = 200
const MIN_BYTES = 2048
const MAX_BYTES = 10_240

/** Stores `count` pictures of 2 to 10 kB; gives their ids. */
export async function fillStore(folder: string, count: number): Promise<string[]> {
  const pictures: Buffer[] = []
  for (let i = 0; i < PICTURES; i++) {
    const bytes = MIN_BYTES + ((MAX_BYTES - MIN_BYTES) * i) / PICTURES
    pictures.push(...(await noisePictures(1, bytes)))
  }
  const facts = pictures.map((bytes) => ({ bytes, sha256: createHash('sha256').update(bytes).digest('hex') }))
  const store = await openFilesystemStore({ folder, hotSetBytes: 0 })
  const ids: string[] = []
  let left = count

  async function fill(): Promise<void> {
    while (left-- > 0) {
      const { bytes, sha256 } = facts[left % facts.length]!
      const draft = await store.draft(once(bytes), bytes.length)
      const id = newId()
      const record = { id, type: 'image/jpeg', size: bytes.length, sha256, sentSha256: sha256 } as const
      const rest = { width: 100, height: 100, animated: false, keySha256: sha256 }
      await draft.commit({ ...record, ...rest, createdAt: new Date().toISOString() }, wholeOf(draft))
      ids.push(id)
      if (ids.length % 10_000 === 0) console.error(`    ${ids.length.toLocaleString('en')} images stored`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, fill))
  await store.close()
  return ids
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
