/** Runs in the page: Pinhole's engine and popular alternatives, each with its default settings. */
import decode from '@jsquash/jpeg/decode.js'
import encode from '@jsquash/jpeg/encode.js'
import imageCompression from 'browser-image-compression'
import Compressor from 'compressorjs'
import { compress } from '../../src/client/browser.ts'

// Its types wrongly wrap the default export in another module.
const shrink = imageCompression as unknown as (file: File, options: object) => Promise<File>

const CONTESTANTS: Record<string, (file: File) => Promise<Blob>> = {
  pinhole: async (file) => (await compress(file)).blob,
  // Simulates a connection that is faster than the CPU.
  'pinhole, quick': async (file) =>
    (await compress(file, { line: { bytesPerSecond: 1e9, isBusy: true } })).blob,
  compressorjs: (file) =>
    new Promise((success, error) => {
      new Compressor(file, { success, error })
    }),
  'mozjpeg 85 as it comes': async (file) => {
    const pixels = await decode(await file.arrayBuffer())
    const options = { quality: 85, auto_subsample: false, chroma_subsample: 2 }
    return new Blob([await encode(pixels, options)], { type: file.type })
  },
  // Without its worker, which loads code from another host; the main thread does the same work.
  'browser-image-compression 1 MB': (file) => shrink(file, { maxSizeMB: 1, useWebWorker: false }),
  'canvas .85': async (file) => {
    const bitmap = await createImageBitmap(file)
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
    canvas.getContext('2d')!.drawImage(bitmap, 0, 0)
    return canvas.convertToBlob({ type: file.type, quality: 0.85 })
  },
}

export interface PageResult {
  type: string
  base64: string
}

async function run(contestant: string, base64: string, type: string): Promise<PageResult> {
  const file = new File([Uint8Array.fromBase64(base64)], 'input', { type })
  const blob = await CONTESTANTS[contestant]!(file)
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return { type: blob.type, base64: bytes.toBase64() }
}

declare global {
  interface Window {
    contestants: string[]
    run: typeof run
  }
  interface Uint8ArrayConstructor {
    fromBase64(text: string): Uint8Array<ArrayBuffer>
  }
  interface Uint8Array {
    toBase64(): string
  }
}

window.contestants = Object.keys(CONTESTANTS)
window.run = run
