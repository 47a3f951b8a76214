/** Operations of reports. */
import { REPORT_PAGE_PATH, REPORT_PATH, receiptPath } from '../protocol.ts'
import { CATEGORIES, REPORT_TEXT } from '../service/report-categories.ts'
import { type HeaderKey, headers, ON_PAGES, UNCACHED } from './headers.ts'
import { HTML, pageAnswer, refusals } from './responses.ts'
import type { PathItem, Schema } from './shapes.ts'

const REPORT: Schema = {
  type: 'object',
  properties: {
    image: { type: 'string', description: 'Link or id of the image.' },
    category: { enum: Object.keys(CATEGORIES) },
    text: { type: 'string', minLength: REPORT_TEXT.least, maxLength: REPORT_TEXT.most },
    name: { type: 'string', description: `Required for ${withContact()}.` },
    email: { type: 'string', description: 'Likewise.' },
    signature: { type: 'string', description: `The full name. Required for ${withSignature()}.` },
    goodFaith: { const: true, description: 'What is said is believed to be right and complete.' },
  },
  required: ['image', 'category', 'text', 'goodFaith'],
}

const RECEIPT: Schema = {
  type: 'object',
  properties: {
    category: { enum: Object.keys(CATEGORIES) },
    reported: { type: 'string', format: 'date-time' },
    state: { enum: ['open', 'held', 'kept', 'removed'] },
    decided: { type: ['string', 'null'], format: 'date-time' },
  },
  required: ['category', 'reported', 'state', 'decided'],
  additionalProperties: false,
}

export function reportPaths(): Record<string, PathItem> {
  return {
    [REPORT_PATH]: {
      post: {
        operationId: 'report',
        tags: ['Reports'],
        summary: 'Report an image',
        description:
          'Somebody looks at it; a report alone removes nothing. Reports have budgets by address, network and severity.',
        requestBody: {
          description: 'The report.',
          required: true,
          content: { 'application/json': { schema: REPORT } },
        },
        responses: {
          202: {
            description:
              'It is filed, or was before. The receipt shows what becomes of it. Of many reports of one image only the first are kept word for word; the others are counted, and share a receipt.',
            headers: headers([...UNCACHED, 'Location']),
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { receipt: { type: 'string', format: 'uri' } },
                  required: ['receipt'],
                  additionalProperties: false,
                },
              },
            },
          },
          ...refusals('report', 'either', waitOn429),
        },
      },
    },
    [REPORT_PAGE_PATH]: {
      get: {
        operationId: 'askReport',
        tags: ['Pages'],
        summary: 'The form for reports',
        parameters: [{ name: 'id', in: 'query', description: 'Of the image.', schema: { type: 'string' } }],
        responses: { 200: pageAnswer('The form.'), ...refusals('askReport', 'page') },
      },
      post: {
        operationId: 'reportByForm',
        tags: ['Pages'],
        summary: 'Report an image by that form',
        requestBody: {
          description: 'As in JSON; the confirmation is named good-faith.',
          required: true,
          content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
        },
        responses: {
          303: { description: 'The receipt is there.', headers: headers([...UNCACHED, 'Location']) },
          ...refusals('reportByForm', 'either', waitOn429),
        },
      },
    },
    [receiptPath('{secret}')]: {
      get: {
        operationId: 'readReceipt',
        tags: ['Reports'],
        summary: 'What became of a report',
        parameters: [
          {
            name: 'secret',
            in: 'path',
            required: true,
            description: 'Of the receipt.',
            schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
          },
        ],
        responses: {
          200: {
            description: 'Its state, as `Accept` asks.',
            headers: headers([...UNCACHED, ...ON_PAGES]),
            content: { 'application/json': { schema: RECEIPT }, ...HTML },
          },
          ...refusals('readReceipt', 'either'),
        },
      },
    },
  }
}

const waitOn429 = (status: number): HeaderKey[] => (status === 429 ? ['Retry-After'] : [])

function withContact(): string {
  return namesWhere(({ contact }) => contact === 'required')
}

function withSignature(): string {
  return namesWhere(({ needsSignature }) => needsSignature)
}

function namesWhere(is: (rules: (typeof CATEGORIES)[keyof typeof CATEGORIES]) => boolean): string {
  return Object.entries(CATEGORIES)
    .filter(([, rules]) => is(rules))
    .map(([name]) => name)
    .join(', ')
}
