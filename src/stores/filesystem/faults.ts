/** Maps file-system errors to store errors. Node only. */
import { stat } from 'node:fs'
import { isCode, isFull } from '../disk/faults.ts'
import { StoreFull, StoreUnavailable } from '../object-store.ts'

// An error with its async stack trace costs an upload more than the `stat` itself. Node 24 still creates one.
const ABSENCE_IS_NO_ERROR = { throwIfNoEntry: false }

/** Whether a file exists. Asynchronous because a rename or a flush may have locked the folder. */
export function isThere(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    stat(path, ABSENCE_IS_NO_ERROR, (error, stats) => {
      resolve(error ? !isCode(error, 'ENOENT') : stats !== undefined)
    })
  })
}

/** Throws `StoreFull` for a full disk, `StoreUnavailable` for an unusable one, and anything else unchanged. */
export function storeFault(error: unknown): never {
  if (isFull(error) || isCode(error, 'EFBIG')) throw new StoreFull({ cause: error })
  if (isCode(error, 'EIO', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOENT', 'ENODEV', 'ESTALE')) {
    throw new StoreUnavailable({ cause: error })
  }
  throw error
}
