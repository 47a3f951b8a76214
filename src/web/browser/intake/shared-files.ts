/** Files that came over the phone's share sheet: the service worker keeps them until the page takes them. */

const CACHE = 'shared-files'
const NAME_HEADER = 'X-File-Name'

export async function keepShared(files: File[]): Promise<void> {
  const cache = await caches.open(CACHE)
  for (const file of files) {
    const headers = { 'Content-Type': file.type, [NAME_HEADER]: encodeURIComponent(file.name) }
    await cache.put(`/shared/${crypto.randomUUID()}`, new Response(file, { headers }))
  }
}

/** Hands them over, once. */
export async function takeShared(): Promise<File[]> {
  const cache = await caches.open(CACHE)
  const files: File[] = []
  for (const request of await cache.keys()) {
    const kept = await cache.match(request)
    await cache.delete(request)
    if (!kept) continue
    const name = decodeURIComponent(kept.headers.get(NAME_HEADER) ?? '')
    files.push(new File([await kept.blob()], name, { type: kept.headers.get('Content-Type') ?? '' }))
  }
  return files
}
