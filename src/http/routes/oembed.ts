/** GET /oembed?url=…: oEmbed for sites that embed links (https://oembed.com, type photo). */
import { Refusal } from '../../errors.ts'
import { EXTENSIONS, ID_PATTERN, previewPath, rawPath, viewPath } from '../../protocol.ts'
import { leftMsOf } from '../../service/images/expiry.ts'
import type { AppContext, AppParts } from '../context.ts'

/** Maximum `cache_age` of the response. Unit: seconds. */
const CACHE_SECONDS = 3600

/** Throws `Refusal`. */
export async function oembed(c: AppContext, { baseUrl, images, site }: AppParts): Promise<Response> {
  c.header('Access-Control-Allow-Origin', '*')
  const { url, format = 'json', maxwidth, maxheight } = c.req.query()
  if (!url) throw new Refusal('missing-url', 'Pass the URL of an image page in the query: /oembed?url=…')
  if (format !== 'json')
    throw new Refusal('unsupported-format', 'oEmbed responses are available as JSON only.')
  const id = idOf(url, baseUrl)
  const record = id === null ? null : await images.find(id)
  if (record === null) throw new Refusal('not-found', 'This is not the URL of an image on this server.')
  const { type, width, height, preview } = record
  const left = leftMsOf(record, { latest: Date.now }) ?? Number.POSITIVE_INFINITY
  const thumbnail =
    site.facts.resizer?.resized(record) ??
    (preview && { ...preview, address: `${baseUrl}${previewPath(record.id)}` })
  const scaleWithin = (width: number, height: number) =>
    Math.min(1, scaleTo(maxwidth, width), scaleTo(maxheight, height))
  const scale = scaleWithin(width, height)
  return c.json({
    version: '1.0',
    type: 'photo',
    provider_name: 'Pinhole',
    provider_url: `${baseUrl}/`,
    url: `${baseUrl}${rawPath(record.id)}.${EXTENSIONS[type]}`,
    width: Math.max(1, Math.floor(width * scale)),
    height: Math.max(1, Math.floor(height * scale)),
    // There is no smaller one: a thumbnail must respect the limits too (2.3.4).
    ...(thumbnail !== undefined &&
      scaleWithin(thumbnail.width, thumbnail.height) === 1 && {
        thumbnail_url: thumbnail.address,
        thumbnail_width: thumbnail.width,
        thumbnail_height: thumbnail.height,
      }),
    cache_age: Math.min(CACHE_SECONDS, Math.max(0, Math.floor(left / 1000))),
  })
}

/** The image ID in the URL of an image page, ignoring the query. `null` for any other URL. */
function idOf(url: string, baseUrl: string): string | null {
  const page = url.split(/[?#]/, 1)[0]!
  const prefix = baseUrl + viewPath('')
  const id = page.slice(prefix.length)
  return page.startsWith(prefix) && ID_PATTERN.test(id) ? id : null
}

/** Factor that scales a side down to `max`. An absent or invalid `max` means no limit. */
function scaleTo(max: string | undefined, side: number): number {
  return max !== undefined && /^[1-9]\d{0,8}$/.test(max) ? Number(max) / side : 1
}
