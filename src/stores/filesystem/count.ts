/** How many images a folder has. For a process that does nothing else: it reads without leaving the thread. Node only. */
import { opendirSync } from 'node:fs'
import { ID_PATTERN } from '../../protocol.ts'

/** Entries that are read at once. */
const BUFFERED = 4096

/** In any order, so that it takes one reading of the folder however large it is. */
export function countImages(folder: string, onProgress: (count: number) => void): number {
  const directory = opendirSync(folder, { bufferSize: BUFFERED })
  let count = 0
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (ID_PATTERN.test(entry.name) && ++count % BUFFERED === 0) onProgress(count)
    }
    return count
  } finally {
    directory.closeSync()
  }
}
