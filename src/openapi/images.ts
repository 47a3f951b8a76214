/** Operations on images: what programs call. */
import {
  DELETE_PATH,
  EXTENSIONS,
  ID_PATTERN,
  IMAGE_TYPES,
  KEY_PATTERN,
  rawPath,
  UPLOAD_PATH,
  viewPath,
} from '../protocol.ts'
import { COMMON, CORS, type HeaderKey, headers, IMAGE, RATE, SECRET_PAGE, UNCACHED } from './headers.ts'
import { pageAnswer, refusals } from './responses.ts'
import { deleteSamples, imageSamples } from './samples.ts'
import { EXAMPLE_ID, EXAMPLE_KEY } from './schemas.ts'
import type { ApiSettings, Operation, Parameter, PathItem, ResponseObject } from './shapes.ts'
import { upload } from './upload.ts'

const KEY: Parameter = {
  name: 'key',
  in: 'query',
  description: 'The deletion key that the upload returned.',
  required: true,
  schema: { type: 'string', pattern: KEY_PATTERN.source },
  example: EXAMPLE_KEY,
}

export function imagePaths(settings: ApiSettings): Record<string, PathItem> {
  const get = getImage(settings)
  return {
    [UPLOAD_PATH]: { post: upload(settings), options: preflight('upload', 'POST', [...RATE, ...CORS]) },
    [DELETE_PATH]: {
      delete: deleteImage(settings),
      get: askDeletion(),
      options: preflight('delete', 'DELETE', CORS),
    },
    [rawPath('{name}')]: { get, head: { ...headOf(get), responses: imageAnswers('headImage') } },
    [viewPath('{id}')]: { get: viewImage() },
  }
}

/** Browsers ask before they let a script of another site send (Fetch, 4.8). */
function preflight(name: string, methods: string, more: HeaderKey[]): Operation {
  return {
    operationId: `${name}Options`,
    tags: ['Images'],
    summary: `Ask which sites' scripts may ${methods}`,
    responses: {
      204: {
        description: 'The headers say so.',
        headers: headers([...UNCACHED, 'Allow', ...more]),
      },
    },
  }
}

function deleteImage({ baseUrl }: ApiSettings): Operation {
  return {
    operationId: 'deleteImage',
    tags: ['Images'],
    summary: 'Delete an image',
    description:
      'Permanent: when it answers true, this service never serves the image again, and its bytes are gone. ' +
      'Copies that caches and chats made are not its own; caches that the operator can reach are told.',
    parameters: [KEY],
    responses: {
      200: {
        description: 'The image is deleted.',
        headers: headers([...UNCACHED, ...CORS]),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Deletion' },
            examples: { deleted: { value: { success: true } } },
          },
        },
      },
      ...refusals('deleteImage', 'either', () => CORS),
    },
    'x-codeSamples': deleteSamples(baseUrl),
  }
}

function askDeletion(): Operation {
  return {
    operationId: 'askDeletion',
    tags: ['Images'],
    summary: 'Ask before deleting',
    description: 'The `delete` address opened in a browser. It never deletes: previews of links fetch it.',
    parameters: [KEY],
    responses: {
      200: pageAnswer(
        'A page with a button that deletes, or one that says that it is done.',
        CORS,
        SECRET_PAGE,
      ),
      ...refusals('askDeletion', 'page', () => CORS),
    },
  }
}

function getImage({ baseUrl }: ApiSettings): Operation {
  const extensions = Object.values(EXTENSIONS).join('|')
  return {
    operationId: 'getImage',
    tags: ['Images'],
    summary: 'Fetch the bytes of an image',
    description:
      'Conditions and one range are honoured. The extension may be left out; a wrong one is 404. ' +
      'Repr-Digest is always SHA-256: Want-Repr-Digest is ignored (RFC 9530, 4).',
    parameters: [
      {
        name: 'name',
        in: 'path',
        description: 'The id, alone or with the extension of the type.',
        required: true,
        schema: { type: 'string', pattern: `^[0-9A-Za-z]{11}(\\.(${extensions}))?$` },
        example: `${EXAMPLE_ID}.png`,
      },
      {
        name: 'dl',
        in: 'query',
        description:
          '1: to save the image instead of showing it. Any other query is redirected to the address without it.',
        schema: { const: 1 },
      },
      ...['If-Match', 'If-None-Match', 'Range', 'If-Range'].map(
        (name): Parameter => ({
          name,
          in: 'header',
          description: 'As RFC 9110 says.',
          schema: { type: 'string' },
        }),
      ),
    ],
    responses: imageAnswers('getImage'),
    'x-codeSamples': imageSamples(baseUrl),
  }
}

function imageAnswers(refuser: 'getImage' | 'headImage'): Record<string, ResponseObject> {
  const bytes = Object.fromEntries(IMAGE_TYPES.map((type) => [type, {}]))
  const part: Record<string, ResponseObject> = {
    206: {
      description: 'One range of them.',
      headers: headers([...IMAGE, 'Content-Range']),
      content: bytes,
    },
  }
  return {
    200: { description: 'The bytes.', headers: headers(IMAGE), content: bytes },
    ...(refuser === 'getImage' ? part : {}),
    304: { description: 'What the client has is still current.', headers: headers(IMAGE), content: bytes },
    308: {
      description: 'The address without its meaningless parts.',
      headers: headers([...COMMON, 'Cache-Control.none', 'X-Request-Id', 'Location']),
    },
    ...refusals(refuser, 'problem', (status) => [
      'Access-Control-Allow-Origin.any',
      ...(status === 416 ? (['Content-Range'] as const) : []),
    ]),
  }
}

function headOf({ summary: _, description: __, 'x-codeSamples': ___, ...get }: Operation): Operation {
  return { ...get, operationId: 'headImage', summary: 'Fetch the headers of an image' }
}

function viewImage(): Operation {
  return {
    operationId: 'viewImage',
    tags: ['Images'],
    summary: 'Look at an image',
    description: 'The page that links lead to, with what chats need to show the image beside the link.',
    parameters: [
      {
        name: 'id',
        in: 'path',
        description: 'The id of the image.',
        required: true,
        schema: { type: 'string', pattern: ID_PATTERN.source },
        example: EXAMPLE_ID,
      },
    ],
    responses: { 200: pageAnswer('The page.'), ...refusals('viewImage', 'page') },
  }
}
