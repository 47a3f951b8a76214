/** Clients that upload, read and delete, and remember what they were promised. */
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
  /** The digest of the preview that was sent with it. */
  previewSha256?: string
  state: 'stored' | 'being deleted' | 'deleted'
}

/** The share of images that have one. */
const WITH_PREVIEW = 0.5

/** What was acknowledged of each image. */
export type Promises = ReadonlyMap<string, Image['state']>

export interface Load {
  /** Waits until so many more uploads are acknowledged than now. */
  uploads(more: number): Promise<void>
  /** No more requests. Resolves when those under way are answered. */
  stop(): Promise<void>
  /** What is acknowledged by now. */
  promises(): Promises
  /** Holds a service to all that was acknowledged, or to these promises. To be called after `stop`. */
  check(url: string, promises?: Promises): Promise<Tally>
  /** Deletes so many images. To be called after `stop`. */
  removeSome(url: string, count: number): Promise<number>
  /** The first few errors that clients saw. */
  errors(): string[]
  acknowledged(): number
}

export interface LoadOptions {
  clients?: number
  /** Size of each image, about. Unit: bytes. */
  size?: () => number
}

/** A client does without a pause what the dice say: mostly it uploads. */
export function startLoad(urls: () => string[], options: LoadOptions = {}): Load {
  const { clients = 6, size = () => 200 + Math.floor(Math.random() ** 4 * 400_000) } = options
  const images: Image[] = []
  const errors: string[] = []
  let acknowledged = 0
  let errorCount = 0
  let isOver = false
  let nth = 0

  function fail(what: string): void {
    errorCount++
    if (errors.length < 10) errors.push(what)
  }

  async function ask<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      fail(`${what}: ${(error as Error).message}`)
      // A server that is gone refuses at once.
      await new Promise((resolve) => setTimeout(resolve, 20))
      return null
    }
  }

  async function upload(url: string): Promise<void> {
    const previewed = Math.random() < WITH_PREVIEW ? filledPreviewed(size()) : null
    const bytes = previewed?.image ?? gif({ size: size() })
    const answer = await ask('upload', () => post(url, previewed?.file ?? bytes, `198.51.${nth++ % 250}.1`))
    if (answer === null) return
    if (answer.status !== 201) return fail(`upload: ${answer.status} ${answer.text.slice(0, 200)}`)
    const { id, key } = answer.json()
    const preview = previewed && { previewSha256: sha256Of(previewed.preview) }
    images.push({ id, key, sha256: sha256Of(bytes), ...preview, state: 'stored' })
    acknowledged++
  }

  async function read(url: string, image: Image): Promise<void> {
    const answer = await ask('read', () => request(url, 'GET', `/raw/${image.id}`))
    if (answer === null || image.state !== 'stored') return
    if (answer.status !== 200) fail(`read: ${answer.status}`)
  }

  async function remove(url: string, image: Image): Promise<void> {
    image.state = 'being deleted'
    const answer = await ask('delete', () => request(url, 'DELETE', `/api/delete?key=${image.key}`))
    if (answer === null) return
    if (answer.status !== 200) return fail(`delete: ${answer.status}`)
    image.state = 'deleted'
    acknowledged++
  }

  async function client(): Promise<void> {
    while (!isOver) {
      const all = urls()
      const url = all[Math.floor(Math.random() * all.length)]!
      const image = images[Math.floor(Math.random() * images.length)]
      const dice = Math.random()
      if (image === undefined || dice < 0.5) await upload(url)
      else if (dice < 0.85 || image.state !== 'stored') await read(url, image)
      else await remove(url, image)
    }
  }

  const working = Array.from({ length: clients }, client)
  const uploadsSoFar = () => images.length

  return {
    async uploads(more) {
      const wanted = uploadsSoFar() + more
      const deadline = Date.now() + 120_000
      while (uploadsSoFar() < wanted) {
        if (Date.now() > deadline) throw new Error(`too few uploads succeed: ${errors.join('; ')}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    async stop() {
      isOver = true
      await Promise.all(working)
    },
    promises: () => new Map(images.map(({ id, state }) => [id, state])),
    async check(url, promises) {
      let lost = 0
      let risen = 0
      const faults: string[] = []
      let promised = 0
      for (const { id, state: latest, sha256: digest, previewSha256 } of images) {
        const then = promises === undefined ? latest : promises.get(id)
        if (then === undefined) continue
        promised++
        // A deletion that began later may be in it or not.
        const state = then === 'stored' && latest !== 'stored' ? 'being deleted' : then
        const { status, body } = await request(url, 'GET', `/raw/${id}`)
        const preview = previewSha256 && (await request(url, 'GET', `/preview/${id}`))
        if (preview && preview.status !== status) {
          faults.push(`${id} answers ${status}, and its preview ${preview.status}`)
        }
        if (preview && preview.status === 200 && sha256Of(preview.body) !== previewSha256) {
          faults.push(`the preview of ${id} has other bytes`)
        }
        if (state === 'stored' && (status !== 200 || sha256Of(body) !== digest)) {
          lost++
          faults.push(`${id} is stored, and answers ${status}`)
        }
        if (state === 'deleted' && status === 200) {
          risen++
          faults.push(`${id} is deleted, and answers ${status}`)
        }
        // Without an answer either is right, but nothing half.
        if (state === 'being deleted' && status === 200 && sha256Of(body) !== digest) {
          faults.push(`${id} has other bytes`)
        }
      }
      return {
        acknowledged: promises === undefined ? acknowledged : promised,
        lost,
        risen,
        errors: errorCount,
        faults: faults.slice(0, 10),
      }
    },
    async removeSome(url, count) {
      const some = images.filter(({ state }) => state === 'stored').slice(0, count)
      for (const image of some) await remove(url, image)
      return some.length
    },
    errors: () => errors,
    acknowledged: () => acknowledged,
  }
}
