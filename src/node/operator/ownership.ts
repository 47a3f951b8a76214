/** Hands files that a command wrote as root to the data folder's owner, so that the service's account can read them. */
import {
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  lstatSync,
  opendirSync,
  openSync,
  type Stats,
} from 'node:fs'
import { constants as system } from 'node:os'
import { isCode } from '../../stores/disk/faults.ts'

/** Folders that may hold a million images. Most commands don't write images, so these are skipped for them. */
const IMAGES = ['images/objects', 'images/held']

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs `work`, then `restoreOwnership`, which a signal does not prevent. `folder`: `null` if there is none. */
export async function keepOwnership<Result>(
  folder: string | null,
  options: { images: boolean },
  work: () => Promise<Result>,
): Promise<Result> {
  if (folder === null || process.getuid?.() !== 0) return work()
  const stop = (signal: (typeof SIGNALS)[number]) => {
    restoreOwnership(folder, options)
    process.exit(128 + system.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    return await work()
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    restoreOwnership(folder, options)
  }
}

/**
 * Changes the owner of everything owned by root in `folder` to the owner of `folder`. A no-op if root owns the folder,
 * and where there is no `/proc/self/fd`. `images`: includes the images; for commands that write them.
 *
 * The owner may replace any entry meanwhile, by a link to a file of root's elsewhere. So each folder is opened without
 * following links and read through its descriptor, and files with a second name are skipped.
 */
function restoreOwnership(folder: string, { images }: { images: boolean }): void {
  if (process.platform !== 'linux') return
  inFolder(folder, O_RDONLY | O_DIRECTORY, (root, owner) => {
    if (owner.uid !== 0) chownTree(root, '', owner, images ? [] : IMAGES)
  })
}

/** `name`: of the folder, from the data folder. `path`: through its descriptor. */
function chownTree(path: string, name: string, owner: Stats, skipped: string[]): void {
  using entries = opendirSync(path)
  for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
    const child = `${path}/${entry.name}`
    const childName = `${name}${entry.name}`
    // Servers are running: the file may have disappeared.
    const stats = lstatSync(child, { throwIfNoEntry: false })
    if (stats?.uid === 0 && (stats.isDirectory() || stats.nlink === 1)) {
      unlessReplaced(() => lchownSync(child, owner.uid, owner.gid))
    }
    if (stats?.isDirectory() && !skipped.includes(childName)) {
      inFolder(child, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, (opened) =>
        chownTree(opened, `${childName}/`, owner, skipped),
      )
    }
  }
}

/** Does nothing if there is no such folder. */
function inFolder(path: string, flags: number, work: (path: string, stats: Stats) => void): void {
  const descriptor = unlessReplaced(() => openSync(path, flags))
  if (descriptor === undefined) return
  try {
    work(`/proc/self/fd/${descriptor}`, fstatSync(descriptor))
  } finally {
    closeSync(descriptor)
  }
}

function unlessReplaced<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    if (!isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error
    return undefined
  }
}
