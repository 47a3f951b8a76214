/** The bytes of an image, visible or held, for the operator alone. The server does not decode them. */
import { Refusal } from '../../errors.ts'
import { type ObjectStore, openAnywhere } from '../../stores/object-store.ts'
import type { AppContext } from '../context.ts'
import { NO_STORE } from '../headers/common.ts'

/** `part`: its preview is another picture, if its uploader wished so. */
export async function sendPicture(
  c: AppContext,
  objects: ObjectStore,
  part: 'all' | 'preview',
): Promise<Response> {
  const id = c.req.param('id') ?? ''
  const image = await openAnywhere(objects, id, part)
  if (image === null) throw new Refusal('not-found', 'There is no such image.')
  const { record, body, release } = image
  const sent = part === 'all' ? record : record.preview
  if (sent === undefined) throw new Refusal('not-found', 'This image has no preview.')
  // The store may use its memory again as soon as it is released.
  const content = body instanceof Uint8Array ? body.slice() : body
  release?.()
  return c.body(content as ReadableStream, 200, {
    'Content-Type': sent.type,
    'Content-Length': `${sent.size}`,
    'Cache-Control': NO_STORE,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  })
}
