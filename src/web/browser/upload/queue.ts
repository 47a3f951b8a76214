/** Which picture is compressed when, and which one is uploaded. Knows nothing of the page. */
import { newIdempotencyKey } from '../../../client/api/idempotency-key.ts'
import type { Compressed, Lifetime, Mode, Sent } from '../../../client/types.ts'
import type { ThroughputMeter } from './throughput.ts'

/** At most this many at once on the way to the server. */
const UPLOADS = 2
/** And one more in the making, so that an upload never waits for a codec. */
const UNDER_WAY = UPLOADS + 1
/** Stages of a compression, as the client counts them: the first fetches what it needs. */
const STEPS = 3

/** Whether a failed upload is retried once the service is back (`resumes`), or would fail again (`hopeless`). */
export type Outlook = 'resumes' | 'hopeless'

export type State =
  | { at: 'queued' | 'asking' | 'ready' | 'cancelled' }
  /** `since` is by the page's clock, in milliseconds. `step` of `steps` has begun. */
  | { at: 'compressing'; since: number; step: number; steps: number; type?: Compressed['typeIn'] }
  | { at: 'uploading'; percent: number; sentBytes: number; totalBytes: number; since: number }
  /** Between two tries; the next one comes at `until`, by the page's clock. */
  | { at: 'waiting'; until: number }
  | { at: 'done'; sent: Sent }
  | { at: 'failed'; error: unknown; outlook?: Outlook | undefined }

export interface Item {
  readonly number: number
  readonly file: File
  mode: Mode
  /** How long the picture stays. Empty: as the service says. */
  readonly expires: Lifetime | ''
  state: State
  /** Set once it is compressed: a second try of the upload does not compress again. */
  compressed?: Compressed
  /** A retry after a lost answer gets the image that is there already. */
  idempotencyKey: string
  /** The person has seen that it carries a place, and sends it. */
  placeAllowed?: boolean
  cancel: AbortController
}

/** The parts of the client that a queue needs. */
export interface Uploader {
  compress: typeof import('../../../client/browser.ts').compress
  send: typeof import('../../../client/browser.ts').send
  line: ThroughputMeter
}

export interface QueueOptions {
  /** Fetched when the first picture needs it. */
  loadUploader(): Promise<Uploader>
  maxBytes: number
  /** Whether types that the service does not take are made ones that it takes. */
  convert: boolean
  /** True if the person must be asked before this is sent. */
  mustAsk(item: Item): boolean
  /** True if every upload after this one would fail in the same way. */
  isFinal(error: unknown): boolean
  onChange(item: Item): void
}

const UNFINISHED = new Set(['queued', 'compressing', 'asking', 'ready', 'uploading', 'waiting'])

export function isUnfinished({ state }: Item): boolean {
  return UNFINISHED.has(state.at)
}

/** Includes failed uploads that are retried by themselves. */
export function isUnderWay(item: Item): boolean {
  const { state } = item
  return isUnfinished(item) || (state.at === 'failed' && state.outlook === 'resumes')
}

export function createQueue(options: QueueOptions) {
  const { loadUploader, maxBytes, convert, mustAsk, isFinal, onChange } = options
  const items: Item[] = []
  let count = 0

  function change(item: Item, state: State): void {
    item.state = state
    onChange(item)
  }

  const at = (...names: State['at'][]) => items.filter(({ state }) => names.includes(state.at))

  function pump(): void {
    for (const item of at('ready').slice(0, Math.max(0, UPLOADS - at('uploading', 'waiting').length))) {
      void run(item, upload)
    }
    const free = UNDER_WAY - at('compressing', 'ready', 'uploading', 'waiting').length
    for (const item of at('queued').slice(0, Math.max(0, free))) void run(item, compress)
  }

  async function run(item: Item, step: (item: Item, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = item.cancel
    try {
      await step(item, signal)
    } catch (error) {
      if (!signal.aborted) {
        change(item, { at: 'failed', error })
        if (isFinal(error)) for (const other of at('queued', 'ready')) change(other, { at: 'failed', error })
      }
    }
    pump()
  }

  async function compress(item: Item, signal: AbortSignal): Promise<void> {
    const since = performance.now()
    change(item, { at: 'compressing', since, step: 1, steps: STEPS })
    const uploader = await loadUploader()
    signal.throwIfAborted()
    item.compressed ??= await uploader.compress(item.file, {
      mode: item.mode,
      convert,
      line: {
        bytesPerSecond: uploader.line.bytesPerSecond(),
        isBusy: at('queued', 'compressing').length > 1,
      },
      signal,
      onProgress(progress) {
        if (signal.aborted || progress.stage !== 'compressing') return
        const { step, steps, type } = progress
        change(item, { at: 'compressing', since, step, steps, type })
      },
    })
    signal.throwIfAborted()
    change(item, { at: mustAsk(item) ? 'asking' : 'ready' })
  }

  async function upload(item: Item, signal: AbortSignal): Promise<void> {
    const { blob, preview } = item.compressed!
    const totalBytes = blob.size
    let since = performance.now()
    change(item, { at: 'uploading', percent: 0, sentBytes: 0, totalBytes, since })
    const { send, line } = await loadUploader()
    const meter = line.begin()
    const sent = await send(blob, {
      ...(preview && { preview }),
      signal,
      maxBytes,
      idempotencyKey: item.idempotencyKey,
      ...(item.expires !== '' && { expires: item.expires }),
      onProgress(progress) {
        if (signal.aborted) return
        if (progress.stage === 'uploading') {
          const { percent, sentBytes, totalBytes } = progress
          meter.sent(sentBytes)
          // Each try starts anew, and so does its pace.
          if (sentBytes === 0) since = performance.now()
          change(item, { at: 'uploading', percent, sentBytes, totalBytes, since })
        }
        if (progress.stage === 'waiting')
          change(item, { at: 'waiting', until: performance.now() + progress.seconds * 1000 })
      },
    }).finally(meter.end)
    // The bytes are up: nobody needs them here any more.
    item.compressed = { ...item.compressed!, blob: new Blob(), ...(preview && { preview: new Blob() }) }
    change(item, { at: 'done', sent })
  }

  return {
    items: items as readonly Item[],
    add(file: File, mode: Mode, expires: Lifetime | ''): Item {
      const item: Item = {
        number: ++count,
        file,
        mode,
        expires,
        idempotencyKey: newIdempotencyKey(),
        state: { at: 'queued' },
        cancel: new AbortController(),
      }
      items.push(item)
      onChange(item)
      queueMicrotask(pump)
      return item
    },
    /** Stops it at any stage. Harmless when it is finished. */
    cancel(item: Item): void {
      if (!isUnderWay(item)) return
      item.cancel.abort()
      change(item, { at: 'cancelled' })
      pump()
    },
    /** Sends it as it is, if it is still being compressed. */
    skip(item: Item): void {
      if (item.state.at !== 'compressing') return
      item.cancel.abort()
      item.cancel = new AbortController()
      item.mode = 'original'
      change(item, { at: 'queued' })
      pump()
    },
    /** Puts a failed or cancelled one back. */
    retry(item: Item): void {
      // The image that the old key names may be stored already, and is deleted then: see `cancellable`.
      if (item.state.at === 'cancelled') item.idempotencyKey = newIdempotencyKey()
      item.cancel = new AbortController()
      change(item, { at: 'queued' })
      pump()
    },
    /** The answer to `asking`. */
    allowPlace(item: Item, allowed: boolean): void {
      item.placeAllowed = allowed
      if (allowed) {
        change(item, { at: 'ready' })
      } else {
        item.mode = 'lossless'
        delete item.compressed
        change(item, { at: 'queued' })
      }
      pump()
    },
    /** Takes a finished one off the list. */
    drop(item: Item): void {
      const index = items.indexOf(item)
      if (index >= 0) items.splice(index, 1)
    },
  }
}
