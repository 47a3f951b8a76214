/** GET /oembed?url=…: a picture for whoever embeds links (https://oembed.com, type photo). */
import { Refusal } from '../../errors.ts'
import { EXTENSIONS, ID_PATTERN, previewPath, rawPath, viewPath } from '../../protocol.ts'
import type { AppContext, AppParts } from '../context.ts'

/** Cache lifetime of the answer. Unit: seconds. */
const CACHE_SECONDS = 3600

/** Throws `Refusal`. */
export async function oembed(c: AppContext, { baseUrl, images, site }: AppParts): Promise<Response> {
  c.header('Access-Control-Allow-Origin', '*')
  const { url, format = 'json', maxwidth, maxheight } = c.req.query()
  if (!url) throw new Refusal('missing-url', 'Give the address of the page of an image: /oembed?url=…')
  if (format !== 'json') throw new Refusal('unsupported-format', 'The answer is available as JSON only.')
  const id = idOf(url, baseUrl)
  const record = id === null ? null : await images.find(id)
  if (record === null) throw new Refusal('not-found', 'This is not the address of an image on this server.')
  const { type, width, height, preview } = record
  const thumbnail =
    site.facts.resizer?.resized(record) ??
    (preview && { ...preview, address: `${baseUrl}${previewPath(record.id)}` })
  const scale = Math.min(1, within(maxwidth, width), within(maxheight, height))
  return c.json({
    version: '1.0',
    type: 'photo',
    provider_name: 'Pinhole',
    provider_url: `${baseUrl}/`,
    url: `${baseUrl}${rawPath(record.id)}.${EXTENSIONS[type]}`,
    width: Math.max(1, Math.floor(width * scale)),
    height: Math.max(1, Math.floor(height * scale)),
    ...(thumbnail !== undefined && {
      thumbnail_url: thumbnail.address,
      thumbnail_width: thumbnail.width,
      thumbnail_height: thumbnail.height,
    }),
    cache_age: CACHE_SECONDS,
  })
}

/** `null` unless it is the page of an image here, whatever its query. */
function idOf(url: string, baseUrl: string): string | null {
  const page = url.split(/[?#]/, 1)[0]!
  const prefix = baseUrl + viewPath('')
  const id = page.slice(prefix.length)
  return page.startsWith(prefix) && ID_PATTERN.test(id) ? id : null
}

/** By how much a side has to shrink. Anything but a positive whole number asks for nothing. */
function within(most: string | undefined, side: number): number {
  return most !== undefined && /^[1-9]\d{0,8}$/.test(most) ? Number(most) / side : 1
}
