/** The interface described: /openapi.json for programs, /api for people, /.well-known/api-catalog to find both. */
import { toHex } from '../../bytes.ts'
import { CODES } from '../../openapi/codes.ts'
import { createDocument } from '../../openapi/document.ts'
import { API_DOCUMENT_PATH, API_PAGE_PATH } from '../../protocol.ts'
import { apiPage } from '../../web/pages.ts'
import type { AppContext, AppParts } from '../context.ts'
import { SERVICE_LINKS } from '../headers/common.ts'
import { noneMatchNames } from '../headers/conditional.ts'
import { type ProblemCode, statusOf } from '../problem.ts'
import { sendCompressed } from './pages.ts'

export type Describe = (c: AppContext) => Promise<Response>

/** Made once: what a service is set to does not change while it runs. */
export function createDescriptions(parts: Pick<AppParts, 'baseUrl' | 'maxUploadBytes' | 'quota' | 'site'>): {
  page: Describe
  document: Describe
  catalog: Describe
} {
  const { baseUrl, maxUploadBytes, quota, site } = parts
  const document = createDocument({ baseUrl, maxUploadBytes, uploadsPerDay: quota.limit })
  const codes = Object.entries(CODES).map(([code, { when, remedy }]) => ({
    code,
    status: statusOf(code as ProblemCode),
    when,
    remedy,
  }))
  return {
    page(c) {
      c.header('Link', SERVICE_LINKS)
      return sendCompressed(c, apiPage(site.context('en'), { document, codes }))
    },
    document: described('application/json', JSON.stringify(document)),
    catalog: described('application/linkset+json', JSON.stringify(catalogOf(baseUrl))),
  }
}

/** RFC 9727 by the linkset of RFC 9264. */
function catalogOf(baseUrl: string): object {
  return {
    linkset: [
      {
        anchor: `${baseUrl}/`,
        'service-desc': [{ href: baseUrl + API_DOCUMENT_PATH, type: 'application/json' }],
        'service-doc': [{ href: baseUrl + API_PAGE_PATH, type: 'text/html' }],
        'terms-of-service': [{ href: `${baseUrl}/terms`, type: 'text/html' }],
        status: [{ href: `${baseUrl}/healthz`, type: 'application/json' }],
      },
    ],
  }
}

function described(type: string, text: string): Describe {
  const bytes = new TextEncoder().encode(text)
  const tag = crypto.subtle.digest('SHA-256', bytes).then((digest) => `"${toHex(new Uint8Array(digest))}"`)
  return async (c) => {
    const etag = await tag
    const headers = {
      ETag: etag,
      'Cache-Control': 'no-cache',
      'Access-Control-Allow-Origin': '*',
      Link: SERVICE_LINKS,
    }
    if (noneMatchNames(c.req.header('If-None-Match') ?? '', etag)) {
      return new Response(null, { status: 304, headers })
    }
    return new Response(bytes, {
      headers: { ...headers, 'Content-Type': type, 'Content-Length': `${bytes.length}` },
    })
  }
}
