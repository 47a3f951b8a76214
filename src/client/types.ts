/** The types of the SDK. */
import type { LIFETIMES } from '../lifetimes.ts'
import type { ImageType, UploadAnswer } from '../protocol.ts'

/**
 * How much may change before the upload. GIF is never touched in any mode.
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

/** What the result waits for. */
export interface Line {
  /** That an upload will have. */
  bytesPerSecond: number
  /** Other pictures wait for the processor: then the line must be kept busy, and nobody looks at one picture. */
  isBusy: boolean
}

export interface CompressOptions {
  /** Default: `auto`. */
  mode?: Mode
  /**
   * Whether HEIC, JPEG XL and, in Safari, TIFF become JPEG, or WebP if they have transparency. If not, or in the modes
   * `lossless` and `original`, they are a `Refusal` (`unsupported-type`). Default: true.
   */
  convert?: boolean
  /**
   * What the result waits for. In browsers, where a photograph's best encoding would make its link come later than it need,
   * a quicker one is taken: up to a quarter more bytes. Default: the best, however long it takes.
   */
  line?: Line
  /** Cancels: the promise rejects with the signal's reason, and the worker is ended. */
  signal?: AbortSignal
  /** Called as the stage or its step changes. It must not throw. */
  onProgress?: (progress: Progress) => void
}

/** Types that the service does not take, and that the client makes JPEG or WebP of. */
export type ForeignType = 'image/heic' | 'image/jxl' | 'image/tiff'

export interface Compressed {
  /** What to upload. The input itself if `action` is `unchanged`. */
  blob: Blob
  type: ImageType
  action: Action
  /** Unit: bytes. */
  bytesIn: number
  /** Unit: bytes. */
  bytesOut: number
  /** As displayed. Unit: pixels. */
  width: number
  /** As displayed. Unit: pixels. */
  height: number
  animated: boolean
  /** The INPUT carries a position. Only mode `original` (and a GIF) would send it: warn there. */
  hasLocation: boolean
  /** The type that came in; differs from `type` after PNG → WebP, PNG → JPEG, HEIC → JPEG. */
  typeIn: ImageType | ForeignType
  /** The input also has brightness beyond white (a gain map in HEIC), and the result does not. */
  losesHdr?: true
  /** Set if recompression was planned and did not happen. */
  fallback?: Fallback
  /**
   * A small picture of the result, for `send`: what galleries and chats show. Absent if the result is small itself, is a GIF
   * or animated, or could not be decoded here.
   */
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

/** What the service calls the lifetimes that are asked for most. */
export type Lifetime = keyof typeof LIFETIMES

export interface SendOptions {
  /** Where the service lives, e.g. `https://pinhole.example`. Default: the page's own origin; required in Node. */
  baseUrl?: string
  /**
   * How long the image stays: one of these, or seconds from 60 to 31,536,000. An older service does not know of it: then the
   * result has no `expires`, and the image stays. Default: as the service says, which is until it is deleted.
   */
  expires?: Lifetime | number
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  /**
   * Attempts after the first one. Default: 3. Once a whole image has left and no answer came, it is tried again for 60
   * seconds and no longer.
   */
  retries?: number
  /**
   * Names the upload: 22 to 255 visible characters, at least 128 random bits. The service stores an image under one name
   * once, however often it is sent. A secret: it leads to the deletion key. Default: a new one for each call.
   */
  idempotencyKey?: string
  /**
   * A small picture of the image, as `compress` gives: JPEG or WebP, at most 1,200 pixels a side and 120 KiB. It is sent in the
   * same file, behind the image's end; a service that knows no previews drops it.
   */
  preview?: Blob
  /** The service's own limit, checked before anything is sent. Default: 26,214,400. Unit: bytes. */
  maxBytes?: number
}

export interface UploadOptions extends CompressOptions, SendOptions {}

/** The service's answer, and where the bytes are. */
export interface Sent extends UploadAnswer {
  /** Address of the bytes themselves. */
  raw: string
  /** What is left of the day's quota, if the service said so. */
  remaining?: number
}

export interface UploadResult extends Sent {
  bytesIn: number
  bytesOut: number
  type: ImageType
  action: Action
  hasLocation: boolean
}

export interface BrowserSettings {
  /** Address of `worker.js` from the package's `worker` folder, for bundlers that find no workers. On the page's origin. */
  workerUrl?: string | URL
  /**
   * If no worker starts: `reject` makes `compress` reject with an error that says what to do; `scrub` removes metadata
   * without compressing, and the result says `no-worker`. Default: `reject`.
   */
  withoutWorker?: 'reject' | 'scrub'
}
