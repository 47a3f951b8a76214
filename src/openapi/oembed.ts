/** GET /oembed. */
import { headers, UNCACHED } from './headers.ts'
import { refusals } from './responses.ts'
import type { Operation, Parameter, Schema } from './shapes.ts'

const MEMBERS: Record<string, Schema> = {
  version: { const: '1.0' },
  type: { const: 'photo' },
  provider_name: { type: 'string' },
  provider_url: { type: 'string' },
  url: { type: 'string', description: 'Of the bytes.' },
  width: { type: 'integer', minimum: 1 },
  height: { type: 'integer', minimum: 1 },
  cache_age: { type: 'integer', description: 'Seconds.' },
}

export function oembed(): Operation {
  const schema = {
    type: 'object',
    properties: MEMBERS,
    required: Object.keys(MEMBERS),
    additionalProperties: false,
  }
  return {
    operationId: 'oembed',
    tags: ['Tools'],
    summary: 'Embed an image (https://oembed.com, type photo)',
    parameters: [
      parameter('url', 'The page of the image.', true),
      parameter('maxwidth', 'Pixels: width and height are told as they fit.'),
      parameter('maxheight', 'The same.'),
      parameter('format', 'json, or nothing.'),
    ],
    responses: {
      200: {
        description: 'The image.',
        headers: headers([...UNCACHED, 'Access-Control-Allow-Origin.any']),
        content: { 'application/json': { schema } },
      },
      ...refusals('oembed', 'either', () => ['Access-Control-Allow-Origin.any']),
    },
  }
}

function parameter(name: string, description: string, required = false): Parameter {
  return { name, in: 'query', description, required, schema: { type: 'string' } }
}
