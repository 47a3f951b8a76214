/**
 * Takes what the phone's share sheet posts, and hands it to the page, which asks before it sends. It caches no page
 * and no picture of others.
 */
import { SHARE_PATH, SHARED_QUERY } from '../share-path.ts'
import { keepFiles, SHARED } from './intake/kept-files.ts'

interface WorkerEvent extends Event {
  request: Request
  respondWith(answer: Promise<Response>): void
  waitUntil(work: Promise<unknown>): void
}

interface WorkerScope {
  skipWaiting(): Promise<void>
  clients: { claim(): Promise<void> }
  addEventListener(name: 'install' | 'activate' | 'fetch', listener: (event: WorkerEvent) => void): void
}

const worker = globalThis as unknown as WorkerScope

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()))
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()))
worker.addEventListener('fetch', (event) => {
  const { method, url } = event.request
  if (method === 'POST' && new URL(url).pathname === SHARE_PATH) event.respondWith(receive(event.request))
})

async function receive(request: Request): Promise<Response> {
  // A form that is none: the page opens all the same, and says that there was nothing.
  let left = 0
  try {
    const form = await request.formData()
    left = await keepFiles(
      SHARED,
      form.getAll('file').filter((part) => part instanceof File),
    )
  } catch {}
  return Response.redirect(`/${SHARED_QUERY}=${left}`, 303)
}
