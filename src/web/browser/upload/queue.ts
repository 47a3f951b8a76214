/** Upload queue: schedules compression and uploads. Independent of the DOM. */
import { newIdempotencyKey } from '../../../client/api/idempotency-key.ts'
import type { ThroughputMeter } from '../../../client/api/throughput.ts'
import type { Compressed, CompressOptions, Lifetime, Mode, Sent } from '../../../client/types.ts'

/** Maximum number of concurrent uploads. */
const MAX_UPLOADS = 2
/** One more item may be compressing, so that an upload slot never waits for a codec. */
const MAX_IN_FLIGHT = MAX_UPLOADS + 1
/** Compression steps, as the client counts them. The first one loads the codec. */
const STEPS = 3

/** Takes the place of uploaded bytes. */
const RELEASED = new Blob()

/** Time between attempts to load the uploader. Unit: milliseconds. */
const LOAD_INTERVAL_MS = 3000

/** `transient`: retried automatically once the service is back. `permanent`: a retry would fail again. */
export type Outlook = 'transient' | 'permanent'

export type State =
  | { at: 'queued' | 'asking' | 'ready' | 'cancelled' }
  /** `since`: on the `performance.now()` clock. `step` of `steps` has begun. */
  | { at: 'compressing'; since: number; step: number; steps: number; type?: Compressed['typeIn'] }
  | { at: 'uploading'; percent: number; sentBytes: number; totalBytes: number; since: number }
  /** Between two attempts; the next one starts at `until`, on the `performance.now()` clock. */
  | { at: 'waiting'; until: number }
  | { at: 'done'; sent: Sent }
  | { at: 'failed'; error: unknown; outlook?: Outlook | undefined }

export interface Item {
  readonly number: number
  readonly file: File
  mode: Mode
  /** The user skipped the compression. */
  isSkipped?: boolean | undefined
  /** Lifetime of the picture. Empty: the service's default. */
  readonly expires: Lifetime | ''
  state: State
  /** Set after compression, so that a retried upload doesn't compress again. */
  compressed?: Compressed
  /** Lets a retry after a lost response return the image already stored. */
  idempotencyKey: string
  /** The user confirmed that the picture may be sent with its location. */
  locationAllowed?: boolean
  cancel: AbortController
}

/** The parts of the client that the queue needs. */
export interface Uploader {
  /** `isSkipped`: only metadata is removed, except from types that must be converted. */
  compress(file: File, options: CompressOptions & { isSkipped?: boolean | undefined }): Promise<Compressed>
  send: typeof import('../../../client/browser.ts').send
  meter: ThroughputMeter
}

export interface QueueOptions {
  /** Called when a picture needs it. If it rejects, it is called again after a while. */
  loadUploader(): Promise<Uploader>
  maxBytes: number
  /** Whether to convert types that the service doesn't accept. */
  convert: boolean
  /** True if the user must confirm before the item is sent. */
  mustAsk(item: Item): boolean
  /** True if every further upload would fail with the same error. */
  isFinal(error: unknown): boolean
  onChange(item: Item): void
}

const UNFINISHED = new Set(['queued', 'compressing', 'asking', 'ready', 'uploading', 'waiting'])

export function isUnfinished({ state }: Item): boolean {
  return UNFINISHED.has(state.at)
}

/** Includes failed uploads that are retried automatically. */
export function isPending(item: Item): boolean {
  const { state } = item
  return isUnfinished(item) || (state.at === 'failed' && state.outlook === 'transient')
}

export function createQueue(options: QueueOptions) {
  const { loadUploader, maxBytes, convert, mustAsk, isFinal, onChange } = options
  const items: Item[] = []
  let count = 0

  function change(item: Item, state: State): void {
    item.state = state
    onChange(item)
  }

  const inState = (...names: State['at'][]) => items.filter(({ state }) => names.includes(state.at))

  function pump(): void {
    const slots = MAX_UPLOADS - inState('uploading', 'waiting').length
    for (const item of inState('ready').slice(0, Math.max(0, slots))) void run(item, upload)
    const free = MAX_IN_FLIGHT - inState('compressing', 'ready', 'uploading', 'waiting').length
    for (const item of inState('queued').slice(0, Math.max(0, free))) void run(item, compress)
  }

  async function run(item: Item, step: (item: Item, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = item.cancel
    try {
      await step(item, signal)
    } catch (error) {
      if (!signal.aborted) {
        change(item, { at: 'failed', error })
        if (isFinal(error))
          for (const other of inState('queued', 'ready')) change(other, { at: 'failed', error })
      }
    }
    pump()
  }

  async function compress(item: Item, signal: AbortSignal): Promise<void> {
    const since = performance.now()
    change(item, { at: 'compressing', since, step: 1, steps: STEPS })
    const uploader = await loadUploader().catch(() => null)
    signal.throwIfAborted()
    if (uploader === null) {
      change(item, { at: 'waiting', until: since + LOAD_INTERVAL_MS })
      await new Promise((resolve) => setTimeout(resolve, LOAD_INTERVAL_MS))
      signal.throwIfAborted()
      return compress(item, signal)
    }
    item.compressed ??= await uploader.compress(item.file, {
      mode: item.mode,
      convert,
      line: {
        bytesPerSecond: uploader.meter.bytesPerSecond(),
        isBusy: inState('queued', 'compressing').length > 1,
      },
      signal,
      onProgress(progress) {
        if (signal.aborted || progress.stage !== 'compressing') return
        const { step, steps, type } = progress
        change(item, { at: 'compressing', since, step, steps, type })
      },
      isSkipped: item.isSkipped,
    })
    signal.throwIfAborted()
    change(item, { at: mustAsk(item) ? 'asking' : 'ready' })
  }

  async function upload(item: Item, signal: AbortSignal): Promise<void> {
    const { blob, preview } = item.compressed!
    const totalBytes = blob.size
    let since = performance.now()
    change(item, { at: 'uploading', percent: 0, sentBytes: 0, totalBytes, since })
    const { send, meter } = await loadUploader()
    const measurement = meter.begin()
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
          measurement.sent(sentBytes)
          // Each attempt measures its own speed.
          if (sentBytes === 0) since = performance.now()
          change(item, { at: 'uploading', percent, sentBytes, totalBytes, since })
        }
        if (progress.stage === 'waiting')
          change(item, { at: 'waiting', until: performance.now() + progress.seconds * 1000 })
      },
    }).finally(measurement.end)
    // Release the uploaded bytes.
    item.compressed = { ...item.compressed!, blob: RELEASED, ...(preview && { preview: RELEASED }) }
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
    /** Cancels at any stage. No-op when finished. */
    cancel(item: Item): void {
      if (!isPending(item)) return
      item.cancel.abort()
      change(item, { at: 'cancelled' })
      pump()
    },
    /** Skips a running compression. Private metadata is still removed, as in the chosen mode. */
    skip(item: Item): void {
      if (item.state.at !== 'compressing') return
      item.cancel.abort()
      item.cancel = new AbortController()
      item.isSkipped = true
      change(item, { at: 'queued' })
      pump()
    },
    /** Requeues a failed or cancelled item. */
    retry(item: Item): void {
      // The old key may refer to a stored image that the cancellation deletes: see `cancellable`.
      if (item.state.at === 'cancelled') item.idempotencyKey = newIdempotencyKey()
      item.cancel = new AbortController()
      change(item, { at: 'queued' })
      pump()
    },
    /** The user's answer to the `asking` state. */
    allowLocation(item: Item, allowed: boolean): void {
      item.locationAllowed = allowed
      if (allowed) {
        change(item, { at: 'ready' })
      } else {
        item.mode = 'lossless'
        delete item.compressed
        change(item, { at: 'queued' })
      }
      pump()
    },
    /** Removes a finished item. */
    drop(item: Item): void {
      const index = items.indexOf(item)
      if (index >= 0) items.splice(index, 1)
    },
  }
}
