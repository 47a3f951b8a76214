/** The whole interface as one document: OpenAPI 3.1, from the tables that the service itself runs on. */
import { statusOf } from '../problems.ts'
import { API_PAGE_PATH } from '../protocol.ts'
import { codesOf } from './codes.ts'
import { CORS, type HeaderKey, headerComponents, MAYBE_RATE } from './headers.ts'
import { imagePaths } from './images.ts'
import { reportPaths } from './reports.ts'
import { refusal } from './responses.ts'
import { schemas } from './schemas.ts'
import { servicePaths } from './service.ts'
import type { ApiDocument, ApiSettings, ResponseObject } from './shapes.ts'

export function createDocument(settings: ApiSettings): ApiDocument {
  const { baseUrl } = settings
  return {
    openapi: '3.1.2',
    info: {
      title: 'Pinhole',
      version: '1',
      summary: 'Anonymous image sharing: send a picture, get a link, delete it with a key.',
      description:
        'No account and no API key. Errors are problem details (RFC 9457) with a stable code in `error`; ' +
        '`type` leads to its explanation. HEAD works wherever GET does. What will be removed announces it beforehand, ' +
        'in Deprecation (RFC 9745) and Sunset (RFC 8594).',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    externalDocs: {
      url: baseUrl + API_PAGE_PATH,
      description: 'The same for people, with every error code.',
    },
    tags: [
      { name: 'Images', description: 'Upload, fetch, look at, delete.' },
      { name: 'Reports', description: 'Tell the operator of an image, and hear what became of it.' },
      { name: 'Tools', description: 'What tools fetch to be set up for this service.' },
      { name: 'Pages', description: 'What browsers open.' },
      { name: 'Health', description: 'What supervisors ask.' },
    ],
    paths: { ...imagePaths(settings), ...reportPaths(), ...servicePaths() },
    components: {
      schemas: schemas(settings),
      headers: headerComponents(),
      responses: answersAnywhere(),
    },
  }
}

/** By status. Uploads answer so too, with what is left. */
const MORE_HEADERS: Record<number, HeaderKey[]> = {
  405: ['Allow', ...MAYBE_RATE, ...CORS],
  500: [...MAYBE_RATE, ...CORS],
}

/** Named by status: any address may answer so, and operations do not repeat them. */
function answersAnywhere(): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(codesOf('anywhere'), statusOf)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      `anywhere-${status}`,
      refusal(codes, 'either', MORE_HEADERS[status]),
    ]),
  )
}
