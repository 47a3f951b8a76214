/** API descriptions: /openapi.json for programs, /api for people, /.well-known/api-catalog to discover both. */
import { createDocument } from '../../openapi.ts'
import { PROBLEMS } from '../../problems.ts'
import { API_DOCUMENT_PATH, API_PAGE_PATH } from '../../protocol.ts'
import { apiPage } from '../../web/pages/api.ts'
import { contextFor } from '../../web/pages/page.ts'
import { responseWith } from '../answer.ts'
import type { AppParts } from '../context.ts'
import { PAGE_HEADERS, SERVICE_LINKS } from '../headers/common.ts'
import { type FixedText, fixedText, representations } from './fixed-text.ts'

/** Built once: the settings that appear in the descriptions do not change while the server runs. */
export function createDescriptions(parts: Pick<AppParts, 'baseUrl' | 'maxUploadBytes' | 'quota' | 'site'>): {
  page: FixedText
  document: FixedText
  catalog: FixedText
} {
  const { baseUrl, maxUploadBytes, quota, site } = parts
  const document = createDocument({ baseUrl, maxUploadBytes, uploadsPerDay: quota.limit })
  // Built on first use, because it is large.
  let represent: ReturnType<typeof representations> | undefined
  return {
    async page(c) {
      represent ??= representations(
        new TextEncoder().encode(apiPage(contextFor(site.facts, 'en'), document, PROBLEMS).toString()),
      )
      const headers = { ...PAGE_HEADERS, Link: SERVICE_LINKS, 'Content-Type': 'text/html; charset=UTF-8' }
      return responseWith(await represent(c.req.header('Accept-Encoding')), headers)
    },
    document: description('application/json', JSON.stringify(document)),
    catalog: description('application/linkset+json', JSON.stringify(catalogOf(baseUrl))),
  }
}

/** An API catalog (RFC 9727) as a linkset (RFC 9264). */
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

function description(type: string, text: string): FixedText {
  return fixedText(text, type, { 'Access-Control-Allow-Origin': '*', Link: SERVICE_LINKS })
}
