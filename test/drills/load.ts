/** Clients that upload, read and delete, and remember what was acknowledged. */
import { request } from '../support/http.ts'
import { filledPreviewed } from '../support/images/previewed.ts'
import { gif } from '../support/images/tiny-images.ts'
import { sha256Of } from '../support/sha256.ts'
import { post } from '../support/upload.ts'
import type { Tally } from './drill.ts'

interface Image {
  id: string
  key: string
  sha256: string
  /** Digest of the preview that was sent with the image. */
  previewSha256?: string
  state: 'stored' | 'deleting' | 'deleted'
}

/** Share of images with a preview. */
const WITH_PREVIEW = 0.5

/** The acknowledged state of each image, by id. */
export type Acknowledged = ReadonlyMap<string, Image['state']>

export interface Load {
  /** Waits for this many further acknowledged uploads. */
  uploads(more: number): Promise<void>
  /** Stops the clients. Resolves once all requests in flight are answered. */
  stop(): Promise<void>
  /** Snapshot of everything acknowledged so far. */
  snapshot(): Acknowledged
  /** Compares a service with everything that was acknowledged, by default at the end. Call after `stop`. */
  check(url: string, snapshot?: Acknowledged): Promise<Tally>
}

export interface LoadOptions {
  clients?: number
  /** Approximate size of each image. Unit: bytes. */
  size?: () => number
}

/** Starts clients that send random requests without pause, half of them uploads. */
export function startLoad(urls: () => string[], options: LoadOptions = {}): Load {
  const { clients = 6, size = () => 200 + Math.floor(Math.random() ** 4 * 400_000) } = options
  const images: Image[] = []
  const errors: string[] = []
  let acknowledged = 0
  let errorCount = 0
  let isStopped = false
  let uploadCount = 0

  function fail(message: string): void {
    errorCount++
    if (errors.length < 10) errors.push(message)
  }

  async function attempt<T>(operation: string, run: () => Promise<T>): Promise<T | null> {
    try {
      return await run()
    } catch (error) {
      fail(`${operation}: ${(error as Error).message}`)
      // A server that is down refuses connections immediately.
      await new Promise((resolve) => setTimeout(resolve, 20))
      return null
    }
  }

  async function upload(url: string): Promise<void> {
    const previewed = Math.random() < WITH_PREVIEW ? filledPreviewed(size()) : null
    const bytes = previewed?.image ?? gif({ size: size() })
    const answer = await attempt('upload', () =>
      post(url, previewed?.file ?? bytes, `198.51.${uploadCount++ % 10}.1`),
    )
    if (answer === null) return
    if (answer.status !== 201) return fail(`upload: ${answer.status} ${answer.text.slice(0, 200)}`)
    const { id, key } = answer.json()
    const preview = previewed && { previewSha256: sha256Of(previewed.preview) }
    images.push({ id, key, sha256: sha256Of(bytes), ...preview, state: 'stored' })
    acknowledged++
  }

  async function read(url: string, image: Image): Promise<void> {
    const answer = await attempt('read', () => request(url, 'GET', `/raw/${image.id}`))
    if (answer === null || image.state !== 'stored') return
    if (answer.status !== 200) fail(`read: ${answer.status}`)
  }

  async function remove(url: string, image: Image): Promise<void> {
    image.state = 'deleting'
    const answer = await attempt('delete', () => request(url, 'DELETE', `/api/delete?key=${image.key}`))
    if (answer === null) return
    if (answer.status !== 200) return fail(`delete: ${answer.status}`)
    image.state = 'deleted'
    acknowledged++
  }

  async function client(): Promise<void> {
    while (!isStopped) {
      const all = urls()
      const url = all[Math.floor(Math.random() * all.length)]!
      const image = images[Math.floor(Math.random() * images.length)]
      const dice = Math.random()
      if (image === undefined || dice < 0.5) await upload(url)
      else if (dice < 0.85 || image.state !== 'stored') await read(url, image)
      else await remove(url, image)
    }
  }

  const running = Array.from({ length: clients }, client)

  return {
    async uploads(more) {
      const target = images.length + more
      const deadline = Date.now() + 120_000
      while (images.length < target) {
        if (Date.now() > deadline) throw new Error(`too few uploads succeed: ${errors.join('; ')}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    async stop() {
      isStopped = true
      await Promise.all(running)
    },
    snapshot: () => new Map(images.map(({ id, state }) => [id, state])),
    async check(url, snapshot) {
      let lost = 0
      let risen = 0
      const faults: string[] = []
      let checked = 0
      for (const { id, state: latest, sha256: digest, previewSha256 } of images) {
        const known = snapshot === undefined ? latest : snapshot.get(id)
        if (known === undefined) continue
        checked++
        // A deletion that started after the snapshot may or may not have taken effect.
        const state = known === 'stored' && latest !== 'stored' ? 'deleting' : known
        const { status, body } = await request(url, 'GET', `/raw/${id}`)
        const preview = previewSha256 && (await request(url, 'GET', `/preview/${id}`))
        if (preview && preview.status !== status) {
          faults.push(`${id} returned ${status}, but its preview ${preview.status}`)
        }
        if (preview && preview.status === 200 && sha256Of(preview.body) !== previewSha256) {
          faults.push(`the preview of ${id} has different bytes`)
        }
        if (state === 'stored' && (status !== 200 || sha256Of(body) !== digest)) {
          lost++
          faults.push(`${id} was stored, but returned ${status}`)
        }
        if (state === 'deleted' && status === 200) {
          risen++
          faults.push(`${id} was deleted, but returned ${status}`)
        }
        // The deletion was never answered, so either outcome is fine, but not different bytes.
        if (state === 'deleting' && status === 200 && sha256Of(body) !== digest) {
          faults.push(`${id} has different bytes`)
        }
      }
      return {
        acknowledged: snapshot === undefined ? acknowledged : checked,
        lost,
        risen,
        errors: errorCount,
        faults: faults.slice(0, 10),
      }
    },
  }
}
