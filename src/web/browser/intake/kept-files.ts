/**
 * Persists files across page loads: files from the share sheet, and uploads unfinished when the page was closed. Other sites
 * can post to the share target, too, so storage is bounded and nothing is sent before the user confirms.
 */

/** Limits for shared files. Unit: files, bytes. */
const MAX_FILES = 50
const MAX_BYTES = 100 * 1024 * 1024

const CACHE = 'kept-files'
const NAME_HEADER = 'X-File-Name'

/** Path segment of the cache key: `SHARED`, or one per page visit. */
export type Group = string

/** The latest files from the share sheet. */
export const SHARED: Group = 'shared'

/** Replaces the shared files with as many of these as fit. Resolves with the number that didn't. */
export async function keepShared(files: File[]): Promise<number> {
  await forgetGroup(SHARED)
  let bytes = 0
  for (const [index, file] of files.entries()) {
    bytes += file.size
    const isSaved =
      index < MAX_FILES &&
      bytes <= MAX_BYTES &&
      // Fails if the disk is full.
      (await keepFile(SHARED, `${index}`, file).then(
        () => true,
        () => false,
      ))
    if (!isSaved) return files.length - index
  }
  return 0
}

/** `name`: unique within the group. */
export async function keepFile(group: Group, name: string, file: File): Promise<void> {
  const cache = await caches.open(CACHE)
  const headers = { 'Content-Type': file.type, [NAME_HEADER]: encodeURIComponent(file.name) }
  await cache.put(addressOf(group, name), new Response(file, { headers }))
}

/** All non-empty groups. */
export async function keptGroups(): Promise<Group[]> {
  const requests = await (await caches.open(CACHE)).keys()
  return [...new Set(requests.map(({ url }) => new URL(url).pathname.split('/')[2] ?? ''))]
}

export async function keptFiles(group: Group): Promise<File[]> {
  const cache = await caches.open(CACHE)
  const kept: File[] = []
  for (const request of await cache.keys()) {
    if (!isIn(group, request)) continue
    const response = await cache.match(request)
    if (!response) continue
    const name = decodeURIComponent(response.headers.get(NAME_HEADER) ?? '')
    const type = response.headers.get('Content-Type') ?? ''
    kept.push(new File([await response.blob()], name, { type }))
  }
  return kept
}

export async function forgetFile(group: Group, name: string): Promise<void> {
  await (await caches.open(CACHE)).delete(addressOf(group, name))
}

export async function forgetGroup(group: Group): Promise<void> {
  const cache = await caches.open(CACHE)
  for (const request of await cache.keys()) {
    if (isIn(group, request)) await cache.delete(request)
  }
}

export async function forgetAllFiles(): Promise<void> {
  await caches.delete(CACHE)
}

function addressOf(group: Group, name: string): string {
  return `/kept/${group}/${name}`
}

function isIn(group: Group, { url }: Request): boolean {
  return new URL(url).pathname.startsWith(addressOf(group, ''))
}
