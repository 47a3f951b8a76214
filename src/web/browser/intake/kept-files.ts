/**
 * Files that outlast the page: what the share sheet posted, and what was not sent when the page was closed. Another
 * site can post to the share sheet's address, too: nothing that is kept here is sent before the person says so, and
 * it is bounded.
 */

/** Most files of one group, and most bytes of all of them. */
const MAX_FILES = 50
const MAX_BYTES = 100 * 1024 * 1024

const CACHE = 'kept-files'
const NAME_HEADER = 'X-File-Name'

export interface KeptFile {
  /** To forget it by. */
  address: string
  file: File
}

/** A part of an address: `SHARED`, or one of a page's visits. */
export type Group = string

/** What the share sheet posted last. */
export const SHARED: Group = 'shared'

/** Keeps what fits, from the first on; the group is replaced. Resolves with how many did not fit. */
export async function keepFiles(group: Group, files: File[]): Promise<number> {
  await forgetGroup(group)
  let bytes = 0
  for (const [index, file] of files.entries()) {
    bytes += file.size
    const isKept =
      index < MAX_FILES &&
      bytes <= MAX_BYTES &&
      // The disk may be full.
      (await keepFile(group, `${index}`, file).then(
        () => true,
        () => false,
      ))
    if (!isKept) return files.length - index
  }
  return 0
}

/** `name`: of the file, within its group. */
export async function keepFile(group: Group, name: string, file: File): Promise<void> {
  const cache = await caches.open(CACHE)
  const headers = { 'Content-Type': file.type, [NAME_HEADER]: encodeURIComponent(file.name) }
  await cache.put(addressOf(group, name), new Response(file, { headers }))
}

/** The groups that hold something. */
export async function keptGroups(): Promise<Group[]> {
  if (!(await caches.has(CACHE))) return []
  const requests = await (await caches.open(CACHE)).keys()
  return [...new Set(requests.map(({ url }) => new URL(url).pathname.split('/')[2] ?? ''))]
}

export async function keptFiles(group: Group): Promise<KeptFile[]> {
  const cache = await caches.open(CACHE)
  const kept: KeptFile[] = []
  for (const request of await cache.keys()) {
    const address = new URL(request.url).pathname
    if (!address.startsWith(addressOf(group, ''))) continue
    const response = await cache.match(request)
    if (!response) continue
    const name = decodeURIComponent(response.headers.get(NAME_HEADER) ?? '')
    const type = response.headers.get('Content-Type') ?? ''
    kept.push({ address, file: new File([await response.blob()], name, { type }) })
  }
  return kept
}

export async function forgetFile(group: Group, name: string): Promise<void> {
  await (await caches.open(CACHE)).delete(addressOf(group, name))
}

export async function forgetGroup(group: Group): Promise<void> {
  const cache = await caches.open(CACHE)
  for (const request of await cache.keys()) {
    if (new URL(request.url).pathname.startsWith(addressOf(group, ''))) await cache.delete(request)
  }
}

export async function forgetAllFiles(): Promise<void> {
  await caches.delete(CACHE)
}

function addressOf(group: Group, name: string): string {
  return `/kept/${group}/${name}`
}
