/**
 * Decodes HEVC stills with libheif (LGPL-3.0), in a separate file so that users can replace the build. libheif has had
 * vulnerabilities in its container parsing, so it never gets untrusted files, only files rewritten by `formats/heic`.
 */
// @ts-expect-error The package has no types for this file.
import libheif from 'libheif-js/libheif-wasm/libheif-bundle.mjs'
import type { Pixels } from './pixels.ts'

/** The part of libheif's API that is used here. A failed call returns an object with a `code`. */
interface Libheif {
  heif_context_alloc(): object
  heif_context_free(context: object): void
  heif_context_read_from_memory(context: object, bytes: Uint8Array): { code: { value: number } }
  heif_js_context_get_primary_image_handle(context: object): object
  heif_js_decode_image2(handle: object, colorspace: object, chroma: object): Decoded
  heif_image_release(image: object): void
  heif_image_handle_release(handle: object): void
  heif_colorspace: { heif_colorspace_RGB: object }
  heif_chroma: { heif_chroma_interleaved_RGBA: object }
}

interface Decoded {
  code?: object
  message?: string
  image: object
  /** `data` is a view into the decoder's memory. */
  channels: { width: number; height: number; stride: number; data: Uint8Array }[]
}

/** Creates a new decoder for each image, so that no state is shared between files. Throws if the image can't be decoded. */
export function decodeHeic(bytes: Uint8Array): Pixels {
  const decoder = (libheif as () => Libheif)()
  const context = decoder.heif_context_alloc()
  try {
    if (decoder.heif_context_read_from_memory(context, bytes).code.value !== 0)
      throw new Error('the HEIC decoder rejected the file')
    const handle = decoder.heif_js_context_get_primary_image_handle(context)
    const { heif_colorspace_RGB } = decoder.heif_colorspace
    const { heif_chroma_interleaved_RGBA } = decoder.heif_chroma
    const decoded = decoder.heif_js_decode_image2(handle, heif_colorspace_RGB, heif_chroma_interleaved_RGBA)
    if (decoded.code) throw new Error(decoded.message ?? 'the HEIC decoder failed')
    const { width, height, stride, data: rows } = decoded.channels[0]!
    const data = new Uint8Array(4 * width * height)
    for (let row = 0; row < height; row++)
      data.set(rows.subarray(row * stride, row * stride + 4 * width), 4 * width * row)
    decoder.heif_image_release(decoded.image)
    decoder.heif_image_handle_release(handle)
    return { data, width, height }
  } finally {
    decoder.heif_context_free(context)
  }
}
