/** The types of the SDK. */
import type { LIFETIMES } from '../lifetimes.ts'
import type { ImageType, UploadAnswer } from '../protocol.ts'

/**
 * How much may change before the upload; `MODES` has all. GIF is never touched in any mode.
 * - `auto`: best size. JPEG is recompressed, PNG takes its smallest exact form, a photograph in a PNG becomes JPEG.
 * - `keep-format`: as `auto`, but the type stays.
 * - `lossless`: no pixel changes. PNG may become lossless WebP.
 * - `original`: the bytes as they are, with whatever the camera wrote into them.
 * In all but `original`, location, owner, device, comments and thumbnails are removed.
 */
export type Mode = (typeof MODES)[number]
export const MODES = ['auto', 'keep-format', 'lossless', 'original'] as const

/**
 * What was done.
 * - `unchanged`: the very bytes that came in.
 * - `scrubbed`: metadata removed, image data untouched.
 * - `lossless`: encoded again, every pixel identical.
 * - `lossy`: recompressed; looks the same, pixels differ.
 */
export type Action = 'unchanged' | 'scrubbed' | 'lossless' | 'lossy'

/** Why an image that could have been recompressed was only scrubbed. */
export type Fallback = 'codec-error' | 'timed-out' | 'no-webassembly' | 'no-worker' | 'too-many-pixels'

export interface PrepareOptions {
  /** Load the codecs for photographs, too. Default: true. */
  codecs?: boolean
}

/** The line that an upload will take. */
export interface Line {
  bytesPerSecond: number
  /** Other pictures wait for the processor. */
  isBusy: boolean
}

export interface CompressOptions {
  /** Default: `auto`. */
  mode?: Mode
  /**
   * HEIC, JPEG XL and, in Safari, TIFF become JPEG, or lossless WebP if they have transparency. If not, or in the modes
   * `lossless` and `original`, they are a `Refusal` (`unsupported-type`). Default: true.
   */
  convert?: boolean
  /**
   * In browsers, where a photograph's best encoding would make its link come later, a quicker one is taken: up to a quarter
   * more bytes. Default: the best, however long it takes.
   */
  line?: Line
  signal?: AbortSignal
  /** It must not throw. */
  onProgress?: (progress: Progress) => void
}

/** The service does not take them; the client makes JPEG or WebP of them. */
export type ForeignType = 'image/heic' | 'image/jxl' | 'image/tiff'

export interface Compressed {
  /** What to upload. The input itself if `action` is `unchanged`. */
  blob: Blob
  type: ImageType
  action: Action
  bytesIn: number
  bytesOut: number
  /** In pixels, as displayed. */
  width: number
  height: number
  animated: boolean
  /** The input carries a position. Only mode `original` (and a GIF) would send it: warn there. */
  hasLocation: boolean
  /** The type that came in; differs from `type` after PNG → WebP, PNG → JPEG, HEIC → JPEG. */
  typeIn: ImageType | ForeignType
  /** The input has brightness beyond white (a gain map in HEIC), and the result does not. */
  losesHdr?: true
  /** Set if recompression was planned and did not happen. */
  fallback?: Fallback
  /** For `send`: what galleries and chats show. Absent if the result is small, a GIF or animated, or can't be decoded here. */
  preview?: Blob
}

/** `compress` and `upload` report these in order. `waiting` comes between two attempts of an upload. */
export type Progress =
  | { stage: 'inspecting' }
  /**
   * `type` and `hasLocation` are those of the input. `step` counts from 1 to `steps`: the codecs are fetched, the pixels
   * are read, the pixels are packed. A file that is only scrubbed ends after the first.
   */
  | {
      stage: 'compressing'
      type: ImageType | ForeignType
      width: number
      height: number
      hasLocation: boolean
      step: number
      steps: number
    }
  /** Bytes of the body that left, of all of them. `percent` is whole, 0 to 100. */
  | { stage: 'uploading'; sentBytes: number; totalBytes: number; percent: number }
  /** The last attempt failed with `cause`; number `attempt` follows after `seconds`. */
  | { stage: 'waiting'; attempt: number; seconds: number; cause: Error }
  | { stage: 'done' }

export type Lifetime = keyof typeof LIFETIMES

export interface SendOptions {
  /** Default: the page's own origin; required in Node. */
  baseUrl?: string
  /**
   * How long the image stays: `1h`, `1d`, `7d`, `30d`, or seconds from 60 to 31,536,000. Default: as the service says. If the
   * result has no `expires`, it stays until it is deleted.
   */
  expires?: Lifetime | number
  /**
   * Ends the call at once. What had all left may be stored all the same: within 60 seconds the same file and `idempotencyKey`
   * give its deletion key.
   */
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  /** Attempts after the first one; none 60 seconds after a whole image left and had no answer. Default: 3. */
  retries?: number
  /**
   * Names the upload, which is stored once however often it is sent: 22 to 255 visible characters, at least 128 random bits.
   * A secret: it leads to the deletion key. Default: a new one for each call.
   */
  idempotencyKey?: string
  /** As `compress` gives it: JPEG or WebP, at most 1,200 pixels a side and 120 KiB. */
  preview?: Blob
  /** The service's own limit. Default: 26,214,400. Unit: bytes. */
  maxBytes?: number
}

export interface UploadOptions extends CompressOptions, SendOptions {}

export interface Sent extends UploadAnswer {
  /** Address of the bytes themselves. */
  raw: string
  /** What is left of the day's quota, if the service said so. */
  remaining?: number
}

export interface UploadResult
  extends Sent,
    Pick<Compressed, 'bytesIn' | 'bytesOut' | 'type' | 'action' | 'hasLocation'> {}

export interface BrowserSettings {
  /** Address of `worker.js`, on the page's origin. */
  workerUrl?: string | URL
  /**
   * If no worker starts: `compress` rejects with an error that says what to do, or (`scrub`) only removes metadata, and the
   * result says `no-worker`. Default: `reject`.
   */
  withoutWorker?: 'reject' | 'scrub'
}
