/** `pinhole/client` in Node. Workers start when the first file needs them. */

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
function theEngine(): Engine {
  engine ??= createEngine(createNodeHost())
  return engine
}

/**
 * Call it before the first file, in browsers only. Vite (`worker: { format: 'es' }`) and webpack find the compression worker
 * without it; for esbuild and Rollup serve the folder `worker` of the package as it is, and name its `worker.js`.
 */
export function configure(_settings: BrowserSettings): void {}

/**
 * Makes an image smaller and takes out what is private. Rejects with a `Refusal` for a file that the service would refuse,
 * or with an `Error` if it can't be read.
 */
export function compress(file: Blob, options?: CompressOptions): Promise<Compressed> {
  return theEngine().compress(file, options)
}

/** Starts a worker and loads the codecs for photographs ahead of the first one. `codecs: false`: the worker alone. */
export function prepare(options?: PrepareOptions): void {
  theEngine().prepare(options)
}

/** Compresses a file and uploads it. Takes the options of `compress` and `send`, and rejects as they do. */
export function upload(file: Blob, options?: UploadOptions): Promise<UploadResult> {
  return uploadWith(compress, file, options ?? {})
}
