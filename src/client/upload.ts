import { endpointOf } from './endpoint.ts'
import type { Engine } from './engine.ts'
import { send } from './send.ts'
import type { UploadOptions, UploadResult } from './types.ts'

/** Compresses, then sends. */
export async function uploadWith(
  engine: Pick<Engine, 'compress'>,
  file: Blob,
  options: UploadOptions,
): Promise<UploadResult> {
  const endpoint = endpointOf(options.baseUrl)
  const { blob, bytesIn, bytesOut, type, action, hasLocation } = await engine.compress(file, options)
  const sent = await send(blob, options, endpoint)
  return { ...sent, bytesIn, bytesOut, type, action, hasLocation }
}
