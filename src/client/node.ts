/** Node entry of `pinhole/client`. Workers start when the first file needs them. */

import { uploadWith } from './api/send.ts'
import { createEngine, type Engine } from './compress/engine.ts'
import type {
  BrowserSettings,
  Compressed,
  CompressOptions,
  PrepareOptions,
  UploadOptions,
  UploadResult,
} from './types.ts'
import { createNodeHost } from './worker/node-host.ts'

export type { Challenge, ImageType, Problem, UploadAnswer } from '../protocol.ts'
export { type RemoveOptions, remove } from './api/remove.ts'
export { send } from './api/send.ts'
export { Refusal, type RefusalCode, ServerRefusal, Unreachable } from './errors.ts'
export * from './types.ts'

let engine: Engine | undefined
function getEngine(): Engine {
  engine ??= createEngine(createNodeHost())
  return engine
}

/**
 * Sets where the compression worker is. Browsers only; call it before the first file. Vite (`worker: { format: 'es' }`) and
 * webpack bundle the worker without it. With esbuild or Rollup, serve the package's `worker` folder as is, and pass the URL
 * of its `worker.js` as `workerUrl`.
 */
export function configure(_settings: BrowserSettings): void {}

/**
 * Compresses an image and strips private metadata. Rejects with a `Refusal` if the service would refuse the file, or with an
 * `Error` if the file can't be read.
 */
export function compress(file: Blob, options?: CompressOptions): Promise<Compressed> {
  return getEngine().compress(file, options)
}

/**
 * Starts a worker and loads the codecs for JPEG ahead of the first file, for PNG (`codecs: 'png'`; some on slow devices), or none
 * (`false`): with `line`, most JPEGs need none.
 */
export function prepare(options?: PrepareOptions): void {
  getEngine().prepare(options)
}

/** Compresses a file and uploads it. Takes the options of `compress` and `send`, and rejects as they do. */
export function upload(file: Blob, options?: UploadOptions): Promise<UploadResult> {
  return uploadWith(compress, file, options ?? {})
}
