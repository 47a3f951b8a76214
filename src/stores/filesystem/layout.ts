/**
 * On-disk layout of an image folder, its version and its identity. Node only.
 *
 *     <folder>/layout                           {"layout":4,"folder":"<random>"}
 *     <folder>/objects/<id>                     one file per image: its bytes, block digests and record
 *     <folder>/held/<id>                        held, and so hidden: `hold.ts`
 *     <folder>/removing/<id>                    removals in progress: `removal.ts`
 *     <folder>/retired/<id>                     empty file: an ID that is never reused: `removal.ts`
 *     <folder>/incoming/<host>-<process>-<…>    drafts
 *
 * Layout versions:
 *
 *     1   objects/<first character of the id>/<id>, no `layout` file
 *     2   objects/<id>
 *     3   as 2; new images have block digests: `trailer.ts`
 *     4   as 3; an image may be followed by a preview
 */
import { randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJsonObject } from '../../json.ts'
import { ID_PATTERN } from '../../protocol.ts'
import { ignoring, unlessAbsent } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'
import { writeFlushed } from '../disk/write-flushed.ts'
import { isThere } from './faults.ts'

const LAYOUT = 4

const SUB_FOLDER = /^[0-9A-Za-z]$/

/** Private, since a directory listing reveals every ID. */
const OWNER_ONLY = 0o700

/** Paths of the store's subfolders. */
export interface Folders {
  objects: string
  held: string
  removing: string
  retired: string
  incoming: string
}

export interface Layout {
  layout: number
  /** Random identity of the folder. A copy of the folder shares it. */
  folder: string
}

/** Creates missing folders and makes their names durable. */
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
  // Unconditionally: the process that created the folders may have died before it flushed.
  for (const each of [folder, join(folder, '..')]) await flushFolder(each)
  return folders
}

/** Creates a folder that only its owner can access, or restricts an existing one. */
export async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY })
  // A folder with another owner, such as a mounted volume: its permissions are its owner's business.
  await chmod(folder, OWNER_ONLY).catch(ignoring('EPERM', 'EROFS', 'ENOTSUP'))
}

/** Migrates the folder to the newest layout. Safe to interrupt and to run concurrently. */
export async function openLayout(folder: string): Promise<Layout> {
  const objects = join(folder, 'objects')
  const known = await readLayout(folder)
  if (known !== null && known.layout > LAYOUT) {
    throw new Error(
      `${folder} was written by a newer version: its layout is ${known.layout}, this version knows ${LAYOUT}`,
    )
  }
  if (known?.layout === LAYOUT) return known
  if (known === null) await flattenSubFolders(objects)
  return writeLayout(folder, known)
}

/** `null` if there is no `layout` file: the folder is new, or of layout 1. */
export async function readLayout(folder: string): Promise<Layout | null> {
  const path = join(folder, 'layout')
  const text = await readFile(path, 'utf8').catch(unlessAbsent(null))
  if (text === null) return null
  const { layout, folder: identity } = (parseJsonObject(text) ?? {}) as Partial<Layout>
  if (Number.isSafeInteger(layout) && typeof identity === 'string')
    return { layout: layout!, folder: identity }
  throw new Error(`${path} cannot be read: it does not name a layout`)
}

/** Migrates layout 1. Moves one image per rename, so that each image always has exactly one path. */
async function flattenSubFolders(objects: string): Promise<void> {
  const entries = await readdir(objects, { withFileTypes: true }).catch(unlessAbsent([]))
  for (const entry of entries) {
    if (!entry.isDirectory() || !SUB_FOLDER.test(entry.name)) continue
    const subFolder = join(objects, entry.name)
    for (const name of await readdir(subFolder).catch(unlessAbsent([]))) {
      if (ID_PATTERN.test(name)) await moveTo(join(objects, name), join(subFolder, name))
    }
    await flushFolder(objects)
    // Files that are not images stay, for `verify` to report.
    await rmdir(subFolder).catch(ignoring('ENOENT', 'ENOTEMPTY', 'EEXIST'))
  }
}

async function moveTo(target: string, path: string): Promise<void> {
  if (await isThere(target)) {
    // If `path` is gone, another process has just moved it.
    if (await isThere(path)) throw new Error(`${path} and ${target} hold the same image: keep one of them`)
    return
  }
  await rename(path, target).catch(ignoring('ENOENT'))
}

/** `older`: the layout to replace. */
async function writeLayout(folder: string, older: Layout | null): Promise<Layout> {
  const path = join(folder, 'layout')
  const temporary = join(folder, 'incoming', `layout-${randomUUID()}`)
  const layout: Layout = { layout: LAYOUT, folder: older?.folder ?? randomUUID() }
  await mkdir(join(folder, 'incoming'), { recursive: true })
  await writeFlushed(temporary, `${JSON.stringify(layout)}\n`)
  if (older === null) {
    // Among concurrent writers the first one wins.
    await link(temporary, path).catch(ignoring('EEXIST'))
    await rm(temporary)
  } else await rename(temporary, path)
  await flushFolder(folder)
  return (await readLayout(folder)) ?? layout
}
