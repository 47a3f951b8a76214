/** `pinhole/client` in a browser. Codecs and workers are fetched when the first file needs them. */

import { Refusal } from '../errors.ts'
import { createEngine, type Engine } from './compress/engine.ts'
import type { Compressed, CompressOptions, UploadOptions, UploadResult } from './types.ts'
import { uploadWith } from './upload.ts'
import { type BrowserSettings, createBrowserHost } from './worker/browser-host.ts'

export type { ImageType, Problem, UploadAnswer } from '../protocol.ts'
export { type RemoveOptions, remove } from './api/remove.ts'
export { send } from './api/send.ts'
export { Refusal, type RefusalCode, ServerRefusal, Unreachable } from './errors.ts'
export * from './types.ts'
export type { BrowserSettings }

let settings: BrowserSettings = {}
let engine: Engine | undefined
function theEngine(): Engine {
  engine ??= createEngine(createBrowserHost(settings))
  return engine
}

/** Call it before the first file. Vite and webpack find the worker without it; esbuild and Rollup need a `workerUrl`. */
export function configure(wished: BrowserSettings): void {
  settings = wished
  engine = undefined
}

/**
 * As in Node. A photograph of a type that the service does not take (HEIC) becomes a JPEG where the browser decodes it, in the
 * modes that change pixels; elsewhere it is a `Refusal` (`unsupported-type`).
 */
export async function compress(file: Blob, options: CompressOptions = {}): Promise<Compressed> {
  const engine = theEngine()
  try {
    return await engine.compress(file, options)
  } catch (error) {
    const mayConvert = options.mode !== 'lossless' && options.mode !== 'original'
    if (!mayConvert || !(error instanceof Refusal) || error.code !== 'unsupported-type') throw error
    const { decodedByPlatform } = await import('./compress/platform-decoder.ts')
    const decoded = await decodedByPlatform(file)
    if (decoded === null) throw error
    const result = await engine.compress(decoded.jpeg, options)
    return { ...result, action: 'lossy', typeIn: decoded.type, bytesIn: file.size }
  }
}

/** Loads the codecs for photographs ahead of the first one, e.g. when a file is dragged over the page. */
export function prepare(): void {
  theEngine().prepare()
}

/** Compresses a file and uploads it. Rejects as `compress` and `send` do. */
export function upload(file: Blob, options?: UploadOptions): Promise<UploadResult> {
  return uploadWith({ compress }, file, options ?? {})
}
