/** Lists the IDs in an image folder in order, or counts them. Node only. */
import { opendirSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { ID_PATTERN } from '../../protocol.ts'

/** IDs per page. Bounds memory, to about twice this many; each page costs another scan of the folder. */
const LIST_PAGE = 100_000

/** Directory entries that a count reads per batch. */
const COUNT_BATCH = 4096

/** Every ID after `after`, in ascending order of code units. */
export async function* idsAfter(folder: string, after: string): AsyncGenerator<string> {
  for (let last = after; ; ) {
    const page = await namesAfter(folder, last)
    yield* page
    if (page.length < LIST_PAGE) return
    last = page.at(-1)!
  }
}

/** The first `LIST_PAGE` IDs after `after`, in order. */
async function namesAfter(folder: string, after: string): Promise<string[]> {
  let names: string[] = []
  for await (const { name } of await opendir(folder, { bufferSize: 1024 })) {
    if (name <= after || !ID_PATTERN.test(name)) continue
    names.push(name)
    if (names.length === 2 * LIST_PAGE) names = names.sort().slice(0, LIST_PAGE)
  }
  return names.sort().slice(0, LIST_PAGE)
}

/**
 * Counts the images of a folder in one scan. Synchronous: for a command, which has nothing else to do. `onProgress`: called
 * every few thousand images with the count so far.
 */
export function countImages(folder: string, onProgress: (count: number) => void): number {
  const directory = opendirSync(folder, { bufferSize: COUNT_BATCH })
  let count = 0
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (ID_PATTERN.test(entry.name) && ++count % COUNT_BATCH === 0) onProgress(count)
    }
    return count
  } finally {
    directory.closeSync()
  }
}
