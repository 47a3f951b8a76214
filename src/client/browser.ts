/** `pinhole/client` in a browser. Codecs and workers are fetched when the first file needs them. */

import { createEngine, type Engine } from './compress/engine.ts'
import type { Compressed, CompressOptions, UploadOptions, UploadResult } from './types.ts'
import { uploadWith } from './upload.ts'
import { type BrowserSettings, createBrowserHost } from './worker/browser-host.ts'

export { remove } from './api/remove.ts'
export { send } from './api/send.ts'
export { Refusal, type RefusalCode, ServerRefusal, Unreachable } from './errors.ts'
export * from './types.ts'

let settings: BrowserSettings = {}
let engine: Engine | undefined
function theEngine(): Engine {
  engine ??= createEngine(createBrowserHost(settings))
  return engine
}

/** Call it before the first file. Without it, bundlers find the worker by themselves (Vite, webpack). */
export function configure(wished: BrowserSettings): void {
  settings = wished
  engine = undefined
}

/** See `Engine.compress`. */
export function compress(file: Blob, options?: CompressOptions): Promise<Compressed> {
  return theEngine().compress(file, options)
}

/** Loads the codecs for photographs ahead of the first one, e.g. when a file is dragged over the page. */
export function prepare(): void {
  theEngine().prepare()
}

/** Compresses a file and uploads it. Rejects as `compress` and `send` do. */
export function upload(file: Blob, options: UploadOptions = {}): Promise<UploadResult> {
  return uploadWith(theEngine(), file, options)
}
