/** `pinhole/client` in Node (24 or later). Workers start when the first file needs them. */

import { createEngine, type Engine } from './engine.ts'
import { createNodeHost } from './node-host.ts'
import type { Compressed, CompressOptions, UploadOptions, UploadResult } from './types.ts'
import { uploadWith } from './upload.ts'

export { Refusal, type RefusalCode, ServerRefusal, Unreachable } from './errors.ts'
export { remove } from './remove.ts'
export { send } from './send.ts'
export * from './types.ts'

let engine: Engine | undefined
function theEngine(): Engine {
  engine ??= createEngine(createNodeHost())
  return engine
}

/** See `Engine.compress`. */
export function compress(file: Blob, options?: CompressOptions): Promise<Compressed> {
  return theEngine().compress(file, options)
}

/** Loads the codecs for photographs ahead of the first one. */
export function prepare(): void {
  theEngine().prepare()
}

/** Compresses a file and uploads it. `baseUrl` is required. Rejects as `compress` and `send` do. */
export function upload(file: Blob, options: UploadOptions = {}): Promise<UploadResult> {
  return uploadWith(theEngine(), file, options)
}
