/** Browser entry of `pinhole/client`. Codecs and workers are fetched when the first file needs them. */

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
function getEngine(): Engine {
  engine ??= createEngine(createBrowserHost(settings))
  return engine
}

/** Sets where the compression worker is, and what happens without one. Call it before the first file. */
export function configure(newSettings: BrowserSettings): void {
  settings = newSettings
  engine = undefined
}

/** As in Node. If no worker starts, `BrowserSettings.withoutWorker` decides. */
export function compress(file: Blob, options?: CompressOptions): Promise<Compressed> {
  return getEngine().compress(file, options)
}

/** As in Node. Call it e.g. when a file is dragged over the page. */
export function prepare(options?: PrepareOptions): void {
  getEngine().prepare(options)
}

/** Compresses a file and uploads it. Takes the options of `compress` and `send`, and rejects as they do. */
export function upload(file: Blob, options?: UploadOptions): Promise<UploadResult> {
  return uploadWith(compress, file, options ?? {})
}
