/** The codecs and their options. Each codec is loaded when first needed; if that fails, calls reject with a `LoadFault`. */
import type { MozJPEGModule as JpegDecoder } from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js'
import type {
  MozJPEGModule as JpegEncoder,
  EncodeOptions as JpegOptions,
} from '@jsquash/jpeg/codec/enc/mozjpeg_enc.js'
import { defaultOptions as JPEG_DEFAULTS } from '@jsquash/jpeg/meta.js'
import type { JXLModule as JxlDecoder } from '@jsquash/jxl/codec/dec/jxl_dec.js'
import type { WebPModule as WebpDecoder } from '@jsquash/webp/codec/dec/webp_dec.js'
import type {
  WebPModule as WebpEncoder,
  EncodeOptions as WebpOptions,
} from '@jsquash/webp/codec/enc/webp_enc.js'
import { defaultOptions as WEBP_DEFAULTS } from '@jsquash/webp/meta.js'
import type { JpegQuality } from './jpeg-quality.ts'
import { loaded } from './load-fault.ts'
import type { Pixels } from './pixels.ts'

/** Returns the compiled module of a package's `.wasm`. `undefined`: the codec fetches it itself, from the bundler's URL. */
export type LoadWasm = (path: string) => Promise<WebAssembly.Module | undefined>

export interface Codecs {
  /** Fetches and compiles the codecs for a task: recompressing JPEG or PNG, or decoding or repacking PNG. */
  load(task: 'jpeg' | 'png' | 'png-decoder' | 'packing'): Promise<void>
  /** Applies the Exif orientation, unless `as` is `stored`. */
  decodeJpeg(bytes: Uint8Array, as?: 'displayed' | 'stored'): Promise<Pixels>
  /** `plain`: the standard's tables without trellis quantisation, as browsers encode. */
  encodeJpeg(
    pixels: Pixels,
    options: { quality: JpegQuality; fullChroma: boolean; gray: boolean; plain?: boolean },
  ): Promise<Uint8Array<ArrayBuffer>>
  /** To 8 bits per channel. Does not apply an orientation. */
  decodePng(bytes: Uint8Array): Promise<Pixels>
  /**
   * Without `quality`, lossless, including the colour of transparent pixels; `quick`: so too, in a fifth to all of the time, for 1
   * to 7 times the bytes; otherwise lossy, 0 to 100.
   */
  encodeWebp(pixels: Pixels, quality?: number | 'quick'): Promise<Uint8Array<ArrayBuffer>>
  /** Still images, lossy or lossless. Does not convert colours. */
  decodeWebp(bytes: Uint8Array): Promise<Pixels>
  /** `level`: of oxipng. */
  optimisePng(bytes: Uint8Array, level: 0 | 1 | 2): Promise<Uint8Array<ArrayBuffer>>
  /** The primary image as displayed. Does not convert colours. The first call fetches 700 kB. */
  decodeHeic(bytes: Uint8Array): Promise<Pixels>
  /** The first frame as displayed, converted to sRGB. */
  decodeJxl(bytes: Uint8Array): Promise<Pixels>
  /** As coded: not rotated or cropped, colours not converted. Only present where no platform codec exists. */
  decodeAvif?(bytes: Uint8Array): Promise<Pixels>
}

export function createCodecs(loadWasm: LoadWasm): Codecs {
  const jpegDecoder = once(async () => {
    const glue = await import('@jsquash/jpeg/codec/dec/mozjpeg_dec.js')
    return start<JpegDecoder>(glue.default, await loadWasm('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'))
  })
  const jpegEncoder = once(async () => {
    const glue = await import('@jsquash/jpeg/codec/enc/mozjpeg_enc.js')
    return start<JpegEncoder>(glue.default, await loadWasm('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'))
  })
  const webpEncoder = once(async () => {
    const glue = await import('@jsquash/webp/codec/enc/webp_enc_simd.js')
    return start<WebpEncoder>(glue.default, await loadWasm('@jsquash/webp/codec/enc/webp_enc_simd.wasm'))
  })
  const webpDecoder = once(async () => {
    const glue = await import('@jsquash/webp/codec/dec/webp_dec.js')
    return start<WebpDecoder>(glue.default, await loadWasm('@jsquash/webp/codec/dec/webp_dec.wasm'))
  })
  const pngDecoder = once(async () => {
    const glue = await import('@jsquash/png/codec/pkg/squoosh_png.js')
    await glue.default(await loadWasm('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'))
    return glue
  })
  const pngOptimiser = once(async () => {
    // The single-threaded build: the multithreaded one needs cross-origin isolation and hangs in Safari 26.2 (squoosh #1458).
    const glue = await import('@jsquash/oxipng/codec/pkg/squoosh_oxipng.js')
    await glue.default(await loadWasm('@jsquash/oxipng/codec/pkg/squoosh_oxipng_bg.wasm'))
    return glue
  })
  const jxlDecoder = once(async () => {
    const glue = await import('@jsquash/jxl/codec/dec/jxl_dec.js')
    return start<JxlDecoder>(glue.default, await loadWasm('@jsquash/jxl/codec/dec/jxl_dec.wasm'))
  })
  return {
    async load(task) {
      const needed = {
        jpeg: [jpegDecoder, jpegEncoder],
        png: [pngDecoder, webpEncoder],
        'png-decoder': [pngDecoder],
        packing: [pngOptimiser],
      }
      await Promise.all(needed[task].map((codec) => codec()))
    },
    async decodeJpeg(bytes, as = 'displayed') {
      const pixels = (await jpegDecoder()).decode(bytes as BufferSource, as === 'displayed')
      return nonNull(pixels, 'JPEG decoder')
    },
    async encodeJpeg({ data, width, height }, { quality, fullChroma, gray, plain }) {
      const options: JpegOptions = {
        ...MOZJPEG,
        ...(plain && PLAIN),
        quality: quality.luma,
        chroma_quality: quality.chroma,
        color_space: gray ? GRAYSCALE : YCBCR,
        chroma_subsample: fullChroma ? 1 : 2,
      }
      return copyOf((await jpegEncoder()).encode(data as BufferSource, width, height, options))
    },
    async decodePng(bytes) {
      return (await pngDecoder()).decode(bytes)
    },
    async encodeWebp({ data, width, height }, quality) {
      const options = {
        ...WEBP_LOSSLESS,
        ...(quality === 'quick' ? QUICK : quality !== undefined && { ...LOSSY, quality }),
      }
      const result = (await webpEncoder()).encode(data as BufferSource, width, height, options)
      return copyOf(nonNull(result, 'WebP encoder'))
    },
    async decodeWebp(bytes) {
      const pixels: Pixels | null = (await webpDecoder()).decode(bytes as BufferSource)
      return nonNull(pixels, 'WebP decoder')
    },
    async optimisePng(bytes, level) {
      return copyOf((await pngOptimiser()).optimise(bytes, level, false, false))
    },
    async decodeHeic(bytes) {
      const { decodeHeic } = await loaded(import('./heic-decoder.ts'))
      return decodeHeic(bytes)
    },
    async decodeJxl(bytes) {
      return nonNull((await jxlDecoder()).decode(bytes as BufferSource), 'JPEG XL decoder')
    },
  }
}

const GRAYSCALE = 1
const YCBCR = 3

/**
 * `auto_subsample` would pick 4:2:2 at quality 80 and 4:4:4 at 90; here the policy decides. Table 2 (tuned for MS-SSIM) with one
 * trellis pass: docs/decisions/010.
 */
const MOZJPEG = {
  ...JPEG_DEFAULTS,
  quant_table: 2,
  auto_subsample: false,
  separate_chroma_quality: true,
} satisfies JpegOptions

/** The tables of T.81, K.1, without trellis quantisation. */
const PLAIN = { quant_table: 0, trellis_loops: 0 } satisfies Partial<JpegOptions>

/**
 * With `lossless`, `quality` means effort. Method 4, the default, takes up to twice the time for the same size
 * (docs/decisions/010).
 */
const WEBP_LOSSLESS = { ...WEBP_DEFAULTS, lossless: 1, exact: 1, method: 2 } satisfies WebpOptions

/** At the default effort of 75, method 0 takes two thirds of the time for up to three times the bytes. */
const QUICK = { method: 0, quality: 100 } satisfies Partial<WebpOptions>

const LOSSY = { lossless: 0, exact: 0, alpha_quality: 60, method: 2 } satisfies Partial<WebpOptions>

interface EmscriptenOptions {
  noInitialRun: boolean
  instantiateWasm?: (
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance) => void,
  ) => WebAssembly.Exports
}

export function start<Module>(
  factory: (options: EmscriptenOptions) => Promise<Module>,
  wasm: WebAssembly.Module | undefined,
): Promise<Module> {
  if (wasm === undefined) return factory({ noInitialRun: true })
  return factory({
    noInitialRun: true,
    instantiateWasm(imports, done) {
      const instance = new WebAssembly.Instance(wasm, imports)
      done(instance)
      return instance.exports
    },
  })
}

/** Calls `load` once. Rejects with a `LoadFault`. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= loaded(load())
    return loading
  }
}

function nonNull<T>(result: T | null, codec: string): T {
  if (result === null) throw new Error(`the ${codec} failed`)
  return result
}

/** Copies a codec's result, which may be a view into its memory. */
function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}
