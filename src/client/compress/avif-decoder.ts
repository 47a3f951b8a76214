/** AVIF decoder for Node, where no platform codec exists. Used for previews only. */
import type { AVIFModule } from '@jsquash/avif/codec/dec/avif_dec.js'
import { type Codecs, type LoadWasm, once, start } from './codecs.ts'

export function createAvifDecoder(loadWasm: LoadWasm): NonNullable<Codecs['decodeAvif']> {
  const decoder = once(async () => {
    const glue = await import('@jsquash/avif/codec/dec/avif_dec.js')
    return start<AVIFModule>(glue.default, await loadWasm('@jsquash/avif/codec/dec/avif_dec.wasm'))
  })
  return async (bytes) => {
    const pixels = (await decoder()).decode(bytes as BufferSource, 8)
    if (pixels === null) throw new Error('the AVIF decoder failed')
    return pixels
  }
}
