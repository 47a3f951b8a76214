/**
 * How a folder of images is laid out, and which folder it is. Node only.
 *
 *     <folder>/layout                           {"layout":4,"folder":"<random>"}
 *     <folder>/objects/<id>                     one file an image: its bytes, their digests and its record
 *     <folder>/held/<id>                        out of sight: `hold.ts`
 *     <folder>/removing/<id>                    being removed: `removal.ts`
 *     <folder>/retired/<id>                     empty: never given again: `removal.ts`
 *     <folder>/incoming/<host>-<process>-<n>    drafts
 *
 * Layouts:
 *
 *     1   objects/<first character of the id>/<id>, and no file `layout`
 *     2   objects/<id>
 *     3   the same, and new images have digests of their blocks: `trailer.ts`
 *     4   the same, and an image may have a preview behind it
 */
import { randomUUID } from 'node:crypto'
import { chmod, link, mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ID_PATTERN } from '../../protocol.ts'
import { isCode, unlessAbsent } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'
import { isThere } from './faults.ts'

const LAYOUT = 4

const SUB_FOLDER = /^[0-9A-Za-z]$/

/** A listing of the folders has every id. */
const OWNER_ONLY = 0o700

/** Paths of the folders below a store's own. */
export interface Folders {
  objects: string
  held: string
  removing: string
  retired: string
  incoming: string
}

export interface Layout {
  layout: number
  /** Random: two folders never have the same, a copy of one has. */
  folder: string
}

/** Makes the folders if they are missing, and brings their names to the disk. */
export async function makeFolders(folder: string): Promise<Folders> {
  const below = (name: string) => join(folder, name)
  const folders = {
    objects: below('objects'),
    held: below('held'),
    removing: below('removing'),
    retired: below('retired'),
    incoming: below('incoming'),
  }
  for (const each of [folder, ...Object.values(folders)]) await makePrivate(each)
  // Every time: the process that made them may have died before it flushed.
  for (const each of [folder, join(folder, '..')]) await flushFolder(each)
  return folders
}

/** Makes a folder, or one that is there, its owner's alone. */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY })
  try {
    await chmod(folder, OWNER_ONLY)
  } catch (error) {
    // Somebody else's folder that we may write to: a volume, whose rights are its owner's business.
    if (!isCode(error, 'EPERM', 'EROFS', 'ENOTSUP')) throw error
  }
}

/** Brings the folder to the newest layout. May be killed at any time and begun again; several may do it at once. */
export async function openLayout(folder: string): Promise<Layout> {
  const objects = join(folder, 'objects')
  const known = await readLayout(folder)
  if (known !== null && known.layout > LAYOUT) {
    throw new Error(
      `${folder} was written by a newer version: its layout is ${known.layout}, this version knows ${LAYOUT}`,
    )
  }
  if (known?.layout === LAYOUT) return known
  if (known === null) await leaveSubFolders(objects)
  return writeLayout(folder, known)
}

/** `null` if it has none: it is new, or older than this file. */
export async function readLayout(folder: string): Promise<Layout | null> {
  const path = join(folder, 'layout')
  const text = await readFile(path, 'utf8').catch(unlessAbsent(null))
  if (text === null) return null
  try {
    const { layout, folder } = JSON.parse(text) as Partial<Layout>
    if (Number.isSafeInteger(layout) && typeof folder === 'string') return { layout: layout!, folder }
  } catch {
    // Said below.
  }
  throw new Error(`${path} cannot be read: it does not name a layout`)
}

/** Layout 1. A rename at a time, so that an image is in one place at every moment. */
async function leaveSubFolders(objects: string): Promise<void> {
  const entries = await readdir(objects, { withFileTypes: true }).catch(unlessAbsent([]))
  for (const entry of entries) {
    if (!entry.isDirectory() || !SUB_FOLDER.test(entry.name)) continue
    const subFolder = join(objects, entry.name)
    for (const name of await readdir(subFolder).catch(unlessAbsent([]))) {
      if (ID_PATTERN.test(name)) await moveTo(join(objects, name), join(subFolder, name))
    }
    await flushFolder(objects)
    // What is no image's stays where it is, for `verify` to find.
    await rmdir(subFolder).catch((error) => {
      if (!isCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error
    })
  }
}

async function moveTo(target: string, path: string): Promise<void> {
  if (await isThere(target)) {
    // Another process may be doing the same.
    if (await isThere(path)) throw new Error(`${path} and ${target} hold the same image: keep one of them`)
    return
  }
  await rename(path, target).catch(unlessAbsent(undefined))
}

/** `older`: what it replaces. */
async function writeLayout(folder: string, older: Layout | null): Promise<Layout> {
  const path = join(folder, 'layout')
  const temporary = join(folder, 'incoming', `layout-${randomUUID()}`)
  const layout: Layout = { layout: LAYOUT, folder: older?.folder ?? randomUUID() }
  await mkdir(join(folder, 'incoming'), { recursive: true })
  {
    await using handle = await open(temporary, 'wx', 0o600)
    await handle.writeFile(`${JSON.stringify(layout)}\n`)
    await handle.sync()
  }
  if (older === null) {
    // If several write it at once, the first one's holds.
    await link(temporary, path).catch((error) => {
      if (!isCode(error, 'EEXIST')) throw error
    })
    await rm(temporary)
  } else await rename(temporary, path)
  await flushFolder(folder)
  return (await readLayout(folder)) ?? layout
}
