/** Operations of the service itself: its pages, its settings for tools, its health. */
import {
  API_CATALOG_PATH,
  API_DOCUMENT_PATH,
  API_PAGE_PATH,
  OEMBED_PATH,
  ROBOTS_PATH,
  SCRIPT_PATH,
  SHAREX_PATH,
  TOOLS_PATH,
} from '../protocol.ts'
import { COMMON, type HeaderKey, headers, SECRET_PAGE, UNCACHED } from './headers.ts'
import { oembed } from './oembed.ts'
import { pageAnswer, refusals } from './responses.ts'
import type { Operation, PathItem, ResponseObject, Schema } from './shapes.ts'

export function servicePaths(): Record<string, PathItem> {
  return {
    '/': { get: page('home', 'The page to upload from', ['Link']) },
    [API_PAGE_PATH]: { get: page('readApi', 'This reference, for people', ['Link']) },
    [TOOLS_PATH]: { get: page('readTools', 'How to upload from elsewhere') },
    '/terms': { get: page('readTerms', 'The terms') },
    '/rules': { get: moved('readRules', 'What may be uploaded') },
    '/contact': { get: moved('readContact', 'Who runs the service') },
    '/transparency': {
      get: {
        ...page('readTransparency', 'What was reported, and what was decided'),
        responses: { 200: pageAnswer('The page.'), ...refusals('readTransparency', 'page') },
      },
    },
    '/.well-known/security.txt': {
      get: {
        operationId: 'readSecurity',
        tags: ['Pages'],
        summary: 'How to report a hole (RFC 9116), if the operator says how to be reached',
        responses: {
          200: { description: 'The file.', headers: headers(UNCACHED), content: { 'text/plain': {} } },
        },
      },
    },
    '/delete': {
      post: {
        ...page('deleteByForm', 'Delete an image by the form of the page that asks'),
        requestBody: {
          description: 'The key.',
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
            },
          },
        },
        responses: {
          200: pageAnswer('A page that says so.', [], SECRET_PAGE),
          ...refusals('deleteByForm', 'page'),
        },
      },
    },
    [API_DOCUMENT_PATH]: {
      get: kept('readDocument', 'This reference, for programs', 'application/json', { type: 'object' }),
    },
    [API_CATALOG_PATH]: {
      get: kept('readCatalog', 'Where the reference is (RFC 9727)', 'application/linkset+json', {
        type: 'object',
        properties: { linkset: { type: 'array' } },
        required: ['linkset'],
        additionalProperties: false,
      }),
    },
    [OEMBED_PATH]: { get: oembed() },
    [ROBOTS_PATH]: { get: file('readRobots', 'What crawlers may look at', 'text/plain') },
    [SHAREX_PATH]: {
      get: file('readShareX', 'Settings for ShareX', 'application/json', ['Content-Disposition']),
    },
    [SCRIPT_PATH]: { get: file('readScript', 'A script for the shell', 'text/x-shellscript') },
    '/healthz': {
      get: health('readHealth', 'Whether the process is alive', { 200: answer('It is.', STATUS_ONLY) }),
    },
    '/readyz': {
      get: health('readReadiness', 'Whether the service can do its work', {
        200: answer('It can.', READINESS),
        503: answer('It can not: its parts are named.', READINESS),
      }),
    },
  }
}

const STATUS_ONLY: Schema = {
  type: 'object',
  properties: { status: { const: 'ok' } },
  required: ['status'],
  additionalProperties: false,
}

const READINESS: Schema = {
  type: 'object',
  properties: {
    status: { enum: ['ok', 'unavailable'] },
    store: { type: 'string' },
    ledger: { type: 'string' },
    purgesOwed: { type: 'integer', minimum: 0 },
    oldestPurgeSeconds: { type: 'number', minimum: 0 },
  },
  required: ['status'],
  additionalProperties: false,
}

function page(operationId: string, summary: string, more: HeaderKey[] = []): Operation {
  return { operationId, tags: ['Pages'], summary, responses: { 200: pageAnswer('The page.', more) } }
}

function moved(operationId: string, summary: string): Operation {
  const found = { description: 'It is a part of the terms.', headers: headers([...UNCACHED, 'Location']) }
  return { operationId, tags: ['Pages'], summary, responses: { 307: found } }
}

/** Kept by whoever fetched it, and asked about by its tag. */
function kept(operationId: string, summary: string, type: string, schema: Schema): Operation {
  const keys: HeaderKey[] = [
    ...COMMON,
    'Cache-Control.document',
    'Content-Encoding',
    'ETag.document',
    'Vary',
    'Access-Control-Allow-Origin.any',
    'Link',
  ]
  return {
    operationId,
    tags: ['Tools'],
    summary,
    responses: {
      200: { description: 'The document.', headers: headers(keys), content: { [type]: { schema } } },
      304: { description: 'What the client has is what is here.', headers: headers(keys) },
    },
  }
}

function file(operationId: string, summary: string, type: string, more: HeaderKey[] = []): Operation {
  return {
    operationId,
    tags: ['Tools'],
    summary,
    responses: {
      200: {
        description: 'With the address of this service in it.',
        headers: headers([...UNCACHED, ...more]),
        content: { [type]: {} },
      },
    },
  }
}

function health(operationId: string, summary: string, responses: Record<string, ResponseObject>): Operation {
  return { operationId, tags: ['Health'], summary, responses }
}

function answer(description: string, schema: Schema): ResponseObject {
  return { description, headers: headers(UNCACHED), content: { 'application/json': { schema } } }
}
