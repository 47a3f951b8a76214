/** Serves static assets by lookup: a path sent by a client never reaches the file system. */
import { responseWith } from '../answer.ts'
import type { AppContext, Site } from '../context.ts'
import { acceptsCoding } from '../headers/negotiate.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'

/** `null` when there is no such asset. */
export async function sendAsset(c: AppContext, site: Site): Promise<Response | null> {
  const asset = await site.asset(new URL(c.req.url).pathname)
  if (asset === null) return null
  const brotli = acceptsCoding(c.req.header('Accept-Encoding'), 'br') ? asset.brotli : undefined
  const bytes = (brotli ?? asset.bytes) as Uint8Array<ArrayBuffer>
  return responseWith(
    { bytes, coding: brotli === undefined ? null : 'br' },
    {
      'Content-Type': asset.type,
      'Cache-Control': asset.immutable ? IMMUTABLE : 'no-cache',
      Vary: 'Accept-Encoding',
    },
  )
}
