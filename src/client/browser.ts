/** `pinhole/client` in a browser. Codecs and workers are fetched when the first file needs them. */

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
import { createBrowserHost } from './worker/browser-host.ts'

export type { Challenge, ImageType, Problem, UploadAnswer } from '../protocol.ts'
export { type RemoveOptions, remove } from './api/remove.ts'
export { send } from './api/send.ts'
export { Refusal, type RefusalCode, ServerRefusal, Unreachable } from './errors.ts'
export * from './types.ts'

let settings: BrowserSettings = {}
let engine: Engine | undefined
function theEngine(): Engine {
  engine ??= createEngine(createBrowserHost(settings))
  return engine
}

/** Says where the compression worker is, and what to do without one. Call it before the first file. */
export function configure(wished: BrowserSettings): void {
  settings = wished
  engine = undefined
}

/** As in Node. Where no worker starts, see `configure`. */
export function compress(file: Blob, options?: CompressOptions): Promise<Compressed> {
  return theEngine().compress(file, options)
}

/** As in Node, e.g. when a file is dragged over the page. */
export function prepare(options?: PrepareOptions): void {
  theEngine().prepare(options)
}

/** Compresses a file and uploads it. Rejects as `compress` and `send` do. */
export function upload(file: Blob, options?: UploadOptions): Promise<UploadResult> {
  return uploadWith(compress, file, options ?? {})
}
