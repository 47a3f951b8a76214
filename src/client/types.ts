/** The types of the SDK. */
import type { LIFETIMES } from '../lifetimes.ts'
import type { ImageType, UploadAnswer } from '../protocol.ts'

/**
 * How much compression may change. `MODES` lists all modes. GIFs are never changed.
 * - `auto`: smallest size. Recompresses JPEG, turns photographs in PNG into JPEG, and other PNGs into lossless PNG or WebP.
 * - `keep-format`: like `auto`, but keeps the image type.
 * - `lossless`: no pixel changes. A PNG may become a lossless WebP.
 * - `original`: the input bytes, with all metadata.
 *
 * All modes except `original` strip location, owner, device, comments and thumbnails.
 */
export type Mode = (typeof MODES)[number]
export const MODES = ['auto', 'keep-format', 'lossless', 'original'] as const

/**
 * What compression did.
 * - `unchanged`: the output is the input, byte for byte.
 * - `scrubbed`: metadata removed, image data untouched.
 * - `lossless`: re-encoded with identical pixels.
 * - `lossy`: recompressed. Looks the same, but pixels differ.
 */
export type Action = 'unchanged' | 'scrubbed' | 'lossless' | 'lossy'

/**
 * Why only metadata was removed although recompression was planned. `no-worker` in Node: a bundler has separated the code from
 * its worker. Mark the package as external.
 */
export type Fallback = 'codec-error' | 'timed-out' | 'no-webassembly' | 'no-worker' | 'too-many-pixels'

export interface PrepareOptions {
  /** Also load the codecs for JPEG (`true`) or PNG. With `line`, most JPEGs need none. Default: true. */
  codecs?: boolean | 'png'
}

/** The network connection that the upload will use. */
export interface Line {
  /** Upload throughput. */
  bytesPerSecond: number
  /** Other images are queued for compression. */
  isBusy: boolean
}

export interface CompressOptions {
  /** Default: `auto`. */
  mode?: Mode
  /**
   * Convert HEIC, JPEG XL and (in Safari) TIFF to JPEG, or to lossless WebP if they have transparency. Otherwise, and in the
   * modes `lossless` and `original`, these are refused (`unsupported-type`). Default: true.
   */
  convert?: boolean
  /**
   * Lets `compress` choose a faster encoding for a JPEG or PNG, of up to about 25 % more bytes, if the best one would delay its link.
   * Default: the best encoding, however long it takes.
   */
  line?: Line
  signal?: AbortSignal
  /** Must not throw. */
  onProgress?: (progress: Progress) => void
}

/** Types that the service does not accept; the client converts them to JPEG or WebP. */
export type ForeignType = 'image/heic' | 'image/jxl' | 'image/tiff'

export interface Compressed {
  /** The file to upload. The input itself if `action` is `unchanged`. */
  blob: Blob
  type: ImageType
  action: Action
  bytesIn: number
  bytesOut: number
  /** As displayed. Unit: pixels. */
  width: number
  height: number
  animated: boolean
  /** The input contains a location. The output has it only in mode `original` or if it is a GIF: warn the user then. */
  hasLocation: boolean
  /** Type of the input. Differs from `type` after a conversion, e.g. PNG → WebP or HEIC → JPEG. */
  typeIn: ImageType | ForeignType
  /** The input was HDR (a HEIC with a gain map), and the result is not. */
  losesHdr?: true
  /** Set if a planned recompression did not happen. */
  fallback?: Fallback
  /**
   * Preview for galleries and chats, to pass to `send`. Absent if the image is small, animated or a GIF, or if it can't be
   * decoded here.
   */
  preview?: Blob
}

/** Reported by `compress`, `send` and `upload` in this order. `waiting` occurs between two upload attempts. */
export type Progress =
  | { stage: 'inspecting' }
  /**
   * `type` and `hasLocation` describe the input. `step` counts from 1 to `steps`: fetching codecs, decoding, encoding. A file
   * that is only scrubbed stops after the first.
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
  /** Bytes of the request body. `percent` is an integer from 0 to 100. */
  | { stage: 'uploading'; sentBytes: number; totalBytes: number; percent: number }
  /** The last attempt failed with `cause`. Attempt number `attempt` starts in `seconds`. */
  | { stage: 'waiting'; attempt: number; seconds: number; cause: Error }
  | { stage: 'done' }

export type Lifetime = keyof typeof LIFETIMES

export interface SendOptions {
  /** Address of the service. Default: the page's origin. Required outside browsers. */
  baseUrl?: string
  /**
   * Lifetime of the image: `1h`, `1d`, `7d`, `30d`, or a number of seconds from 60 to 31,536,000. Default: the service's. If
   * the result has no `expires`, the image stays until it is deleted.
   */
  expires?: Lifetime | number
  /**
   * Cancels the call. If the whole body had been sent, the image may still be stored: sending the same file with the same
   * `idempotencyKey` within 60 seconds returns its deletion key.
   */
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  /**
   * Maximum number of retries. Stops retrying 60 seconds after a complete body was sent without a response. Default: 3.
   */
  retries?: number
  /**
   * Identifies the upload, so that repeating it stores the image only once: 22 to 255 visible ASCII characters, with
   * at least 128 random bits. Keep it secret: it gives access to the deletion key. Default: a new one for each call.
   */
  idempotencyKey?: string
  /**
   * The `preview` from `compress`: JPEG or WebP, at most 1,200 pixels a side and 120 KiB. If it makes the file too large for the
   * service or a proxy, the image is sent without it.
   */
  preview?: Blob
  /** The service's upload limit. Larger files are refused before they are sent. Default: 26,214,400. Unit: bytes. */
  maxBytes?: number
}

export interface UploadOptions extends CompressOptions, SendOptions {}

export interface Sent extends UploadAnswer {
  /** Address of the image file. */
  raw: string
  /** Uploads left in today's quota, if the service said so. */
  remaining?: number
}

export interface UploadResult
  extends Sent,
    Pick<Compressed, 'bytesIn' | 'bytesOut' | 'type' | 'action' | 'hasLocation'> {}

export interface BrowserSettings {
  /** Address of `worker.js`. Must be on the page's origin. */
  workerUrl?: string | URL
  /**
   * If no worker starts: `reject` makes `compress` reject with an error that says what to do; `scrub` only removes metadata
   * and sets `fallback` to `no-worker`. Default: `reject`.
   */
  withoutWorker?: 'reject' | 'scrub'
}
