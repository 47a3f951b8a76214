/** Serves the bytes of an image, visible or held, to the operator only. The server never decodes them. */
import { Refusal } from '../../errors.ts'
import { dispose, type ObjectStore, openAnywhere } from '../../stores/object-store.ts'
import type { AppContext } from '../context.ts'
import { NO_STORE } from '../headers/common.ts'

/** `part`: the preview is reviewed separately, because the uploader can supply one that shows something else. */
export async function sendImageBytes(
  c: AppContext,
  objects: ObjectStore,
  part: 'all' | 'preview',
): Promise<Response> {
  const id = c.req.param('id') ?? ''
  const image = await openAnywhere(objects, id, part)
  if (image === null) throw new Refusal('not-found', 'This image does not exist.')
  const { record, body, release } = image
  const facts = part === 'all' ? record : record.preview
  if (facts === undefined) throw new Refusal('not-found', 'This image has no preview.')
  const headers = {
    'Content-Type': facts.type,
    'Content-Length': `${facts.size}`,
    'Cache-Control': NO_STORE,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  }
  if (c.req.method === 'HEAD') {
    // Hono would drop the stream without closing it.
    await dispose(image)
    return c.body(null, 200, headers)
  }
  // A copy: the store may reuse its memory after the release.
  const content = body instanceof Uint8Array ? body.slice() : body
  release?.()
  return c.body(content as ReadableStream, 200, headers)
}
