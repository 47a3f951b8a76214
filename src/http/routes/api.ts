/** The interface described: /openapi.json for programs, /api for people, /.well-known/api-catalog to find both. */
import { CODES } from '../../openapi/codes.ts'
import { createDocument } from '../../openapi/document.ts'
import { API_DOCUMENT_PATH, API_PAGE_PATH } from '../../protocol.ts'
import { apiPage } from '../../web/pages.ts'
import type { AppParts } from '../context.ts'
import { SERVICE_LINKS } from '../headers/common.ts'
import { type ProblemCode, statusOf } from '../problem.ts'
import { type FixedText, fixedText } from './fixed-text.ts'
import { sendCompressed } from './pages.ts'

/** Made once: what a service is set to does not change while it runs. */
export function createDescriptions(parts: Pick<AppParts, 'baseUrl' | 'maxUploadBytes' | 'quota' | 'site'>): {
  page: FixedText
  document: FixedText
  catalog: FixedText
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

function described(type: string, text: string): FixedText {
  return fixedText(text, type, { 'Access-Control-Allow-Origin': '*', Link: SERVICE_LINKS })
}
