import { endpointOf } from './api/endpoint.ts'
import { sendTo } from './api/send.ts'
import type { Engine } from './compress/engine.ts'
import type { UploadOptions, UploadResult } from './types.ts'

/** Compresses, then sends. */
export async function uploadWith(
  engine: Pick<Engine, 'compress'>,
  file: Blob,
  options: UploadOptions,
): Promise<UploadResult> {
  const endpoint = endpointOf(options.baseUrl)
  const compressed = await engine.compress(file, options)
  const { blob, preview, bytesIn, bytesOut, type, action, hasLocation } = compressed
  const sent = await sendTo(blob, { ...options, ...(preview && { preview }) }, endpoint)
  return { ...sent, bytesIn, bytesOut, type, action, hasLocation }
}
