/**
 * Receives files from the phone's share sheet and stores them for the page, which asks before uploading. Caches no pages and
 * no other pictures.
 */
import { SHARE_PATH, SHARED_QUERY } from '../share-path.ts'
import { keepShared } from './intake/kept-files.ts'

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
  // With an invalid form, the page still opens and says that no picture was found.
  let omitted = 0
  try {
    const form = await request.formData()
    omitted = await keepShared(form.getAll('file').filter((part) => part instanceof File))
  } catch {}
  return Response.redirect(`/${SHARED_QUERY}=${omitted}`, 303)
}
