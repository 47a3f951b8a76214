/** The ids in a folder of images, in order or merely counted. Node only. */
import { opendirSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { ID_PATTERN } from '../../protocol.ts'

/** Ids that are held in memory at once, about: each so many cost one more reading of the folder. */
const LIST_PAGE = 100_000

/** Entries that a count reads at once. */
const COUNTED_AT_ONCE = 4096

/** Every id after `after`, in ascending order of code units. */
export async function* idsAfter(folder: string, after: string): AsyncGenerator<string> {
  for (let last = after; ; ) {
    const page = await namesAfter(folder, last)
    yield* page
    if (page.length < LIST_PAGE) return
    last = page.at(-1)!
  }
}

/** The first `LIST_PAGE` ids after `after`, in order. */
async function namesAfter(folder: string, after: string): Promise<string[]> {
  let names: string[] = []
  for await (const { name } of await opendir(folder, { bufferSize: 1024 })) {
    if (name <= after || !ID_PATTERN.test(name)) continue
    names.push(name)
    if (names.length === 2 * LIST_PAGE) names = names.sort(byCodeUnits).slice(0, LIST_PAGE)
  }
  return names.sort(byCodeUnits).slice(0, LIST_PAGE)
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * How many images a folder has, in one reading of it. Blocks the thread: for a command, which does nothing else.
 * `onProgress`: told now and then how many were counted.
 */
export function countImages(folder: string, onProgress: (count: number) => void): number {
  const directory = opendirSync(folder, { bufferSize: COUNTED_AT_ONCE })
  let count = 0
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (ID_PATTERN.test(entry.name) && ++count % COUNTED_AT_ONCE === 0) onProgress(count)
    }
    return count
  } finally {
    directory.closeSync()
  }
}
