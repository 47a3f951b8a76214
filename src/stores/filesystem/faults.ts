/** What the file system's errors mean to a store. Node only. */
import { stat } from 'node:fs'
import { isCode, isFull } from '../disk/faults.ts'
import { StoreFull, StoreUnavailable } from '../object-store.ts'

// An error with the stack of all that waits for it costs an upload more than the look does. Node 24 makes one still.
const ABSENCE_IS_NO_ERROR = { throwIfNoEntry: false }

/** Beside the event loop: the folder may be locked by a rename or a flush. */
export function isThere(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    stat(path, ABSENCE_IS_NO_ERROR, (error, stats) => {
      resolve(error ? !isCode(error, 'ENOENT') : stats !== undefined)
    })
  })
}

/** Tells a full disk and a disk that can't be used from everything else. */
export function storeFault(error: unknown): never {
  if (isFull(error) || isCode(error, 'EFBIG')) throw new StoreFull({ cause: error })
  if (isCode(error, 'EIO', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOENT', 'ENODEV', 'ESTALE')) {
    throw new StoreUnavailable({ cause: error })
  }
  throw error
}
