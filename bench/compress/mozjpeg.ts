/** mozjpeg with arbitrary settings, from the same build that the engine uses. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { EncodeOptions, MozJPEGModule } from '@jsquash/jpeg/codec/enc/mozjpeg_enc.js'
import encoderFactory from '@jsquash/jpeg/codec/enc/mozjpeg_enc.js'
import { start } from '../../src/client/compress/codecs.ts'
import type { Pixels } from '../../src/client/compress/pixels.ts'

export interface Settings {
  luma: number
  chroma: number
  /** mozjpeg's numbers: 1 flat, 2 MS-SSIM, 3 ImageMagick, 4 PSNR-HVS-M, 5 Klein, 6 Watson, 7 Ahumada, 8 Peterson. */
  table: number
  trellis: boolean
  fullChroma: boolean
}

let encoder: Promise<MozJPEGModule> | undefined

async function startEncoder(): Promise<MozJPEGModule> {
  const path = fileURLToPath(import.meta.resolve('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'))
  const wasm = await WebAssembly.compile(await readFile(path))
  return start<MozJPEGModule>(encoderFactory, wasm)
}

/** Encodes like cjpeg, except for `settings`. */
export async function mozjpeg({ data, width, height }: Pixels, settings: Settings): Promise<Buffer> {
  encoder ??= startEncoder()
  const options: EncodeOptions = {
    quality: settings.luma,
    chroma_quality: settings.chroma,
    separate_chroma_quality: true,
    baseline: false,
    arithmetic: false,
    progressive: true,
    optimize_coding: true,
    smoothing: 0,
    color_space: 3,
    quant_table: settings.table,
    trellis_multipass: false,
    trellis_opt_zero: false,
    trellis_opt_table: false,
    trellis_loops: settings.trellis ? 1 : 0,
    auto_subsample: false,
    chroma_subsample: settings.fullChroma ? 1 : 2,
  }
  return Buffer.from((await encoder).encode(data as BufferSource, width, height, options))
}
