/** The codecs as data: what each one is called with. Every one is loaded when it is first needed. */
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
import type { Pixels } from './pixels.ts'

/**
 * Gives the compiled module of a package's `.wasm`, or `undefined` if the codec shall fetch it itself, by the URL
 * that the bundler gave it.
 */
export type LoadWasm = (path: string) => Promise<WebAssembly.Module | undefined>

export interface Codecs {
  /** Fetches and compiles the codecs that most JPEGs or PNGs need, those that pack a PNG, or those of a preview. */
  load(what: 'jpeg' | 'png' | 'packing' | 'preview'): Promise<void>
  /** Applies the Exif orientation, unless the pixels are wanted as they are stored. */
  decodeJpeg(bytes: Uint8Array, as?: 'displayed' | 'stored'): Promise<Pixels>
  /** `plain`: with the standard's tables and nothing left out, as browsers encode. `quick`: not progressive. */
  encodeJpeg(
    pixels: Pixels,
    options: { quality: JpegQuality; fullChroma: boolean; gray: boolean; plain?: boolean; quick?: boolean },
  ): Promise<Uint8Array<ArrayBuffer>>
  /** 8 bits a channel. Does not apply an orientation. */
  decodePng(bytes: Uint8Array): Promise<Pixels>
  /** Exact, in the pixels that nobody sees too; or of a quality from 0 to 100. */
  encodeWebp(pixels: Pixels, quality?: number): Promise<Uint8Array<ArrayBuffer>>
  /** Lossy or lossless, without animation. Its colours as they are stored. */
  decodeWebp(bytes: Uint8Array): Promise<Pixels>
  /** `level`: oxipng's. */
  optimisePng(bytes: Uint8Array, level: 0 | 1 | 2): Promise<Uint8Array<ArrayBuffer>>
  /** The primary picture as displayed, its colours as they are stored. 700 kB that are fetched for the first one. */
  decodeHeic(bytes: Uint8Array): Promise<Pixels>
  /** The first frame as displayed, in sRGB. */
  decodeJxl(bytes: Uint8Array): Promise<Pixels>
  /** As coded: neither turned nor cropped, its colours as they are stored. Only where no platform decodes it. */
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
    if (hasSimd()) {
      const glue = await import('@jsquash/webp/codec/enc/webp_enc_simd.js')
      return start<WebpEncoder>(glue.default, await loadWasm('@jsquash/webp/codec/enc/webp_enc_simd.wasm'))
    }
    const glue = await import('@jsquash/webp/codec/enc/webp_enc.js')
    return start<WebpEncoder>(glue.default, await loadWasm('@jsquash/webp/codec/enc/webp_enc.wasm'))
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
    // The single-threaded build: the other one needs cross-origin isolation and hangs in Safari 26.2 (squoosh #1458).
    const glue = await import('@jsquash/oxipng/codec/pkg/squoosh_oxipng.js')
    await glue.default(await loadWasm('@jsquash/oxipng/codec/pkg/squoosh_oxipng_bg.wasm'))
    return glue
  })
  const jxlDecoder = once(async () => {
    const glue = await import('@jsquash/jxl/codec/dec/jxl_dec.js')
    return start<JxlDecoder>(glue.default, await loadWasm('@jsquash/jxl/codec/dec/jxl_dec.wasm'))
  })
  return {
    async load(what) {
      const needed = {
        jpeg: [jpegDecoder, jpegEncoder],
        png: [pngDecoder, webpEncoder],
        packing: [pngOptimiser],
        preview: [jpegEncoder],
      }
      await Promise.all(needed[what].map((codec) => codec()))
    },
    async decodeJpeg(bytes, as = 'displayed') {
      const pixels = (await jpegDecoder()).decode(bytes as BufferSource, as === 'displayed')
      return given(pixels, 'JPEG decoder')
    },
    async encodeJpeg({ data, width, height }, { quality, fullChroma, gray, plain, quick }) {
      const options: JpegOptions = {
        ...MOZJPEG,
        ...(plain && PLAIN),
        ...(quick && { progressive: false }),
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
      const options = quality === undefined ? WEBP_LOSSLESS : { ...WEBP_LOSSLESS, ...LOSSY, quality }
      const result = (await webpEncoder()).encode(data as BufferSource, width, height, options)
      return copyOf(given(result, 'WebP encoder'))
    },
    async decodeWebp(bytes) {
      const pixels: Pixels | null = (await webpDecoder()).decode(bytes as BufferSource)
      return given(pixels, 'WebP decoder')
    },
    async optimisePng(bytes, level) {
      return copyOf((await pngOptimiser()).optimise(bytes, level, false, false))
    },
    async decodeHeic(bytes) {
      const { decodeHeic } = await import('./heic-decoder.ts')
      return decodeHeic(bytes)
    },
    async decodeJxl(bytes) {
      return given((await jxlDecoder()).decode(bytes as BufferSource), 'JPEG XL decoder')
    },
  }
}

const GRAYSCALE = 1
const YCBCR = 3

/**
 * `auto_subsample` picks 4:2:2 at quality 80 and 4:4:4 at 90; the policy decides instead. Table 2 (tuned by MS-SSIM) with
 * one trellis pass: docs/decisions/010.
 */
const MOZJPEG = {
  ...JPEG_DEFAULTS,
  quant_table: 2,
  auto_subsample: false,
  separate_chroma_quality: true,
} satisfies JpegOptions

/** T.81's tables (K.1) without trellis. */
const PLAIN = { quant_table: 0, trellis_loops: 0 } satisfies Partial<JpegOptions>

/** For lossless coding, `quality` is effort. */
const WEBP_LOSSLESS = { ...WEBP_DEFAULTS, lossless: 1, exact: 1 } satisfies WebpOptions

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

export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load()
    return loaded
  }
}

function given<T>(result: T | null, codec: string): T {
  if (result === null) throw new Error(`the ${codec} gave up`)
  return result
}

/** What a codec returns may be a view of its own memory. */
function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

/** The smallest module with a vector instruction (`i32.const 0; i8x16.splat; i8x16.popcnt; drop`). */
function hasSimd(): boolean {
  return WebAssembly.validate(
    // biome-ignore format: one row
    new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]),
  )
}
