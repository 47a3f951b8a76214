/** Validates every response against the host's own OpenAPI document: operation, status, headers, body and error code. */
import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { ApiDocument, ApiResponse, MediaType, Operation } from '../../../src/openapi.ts'
import { UPLOAD_PATH } from '../../../src/protocol.ts'
import { SHARE_PATH } from '../../../src/web/share-path.ts'
import { type Answer, request } from '../../support/http.ts'

export interface Documented {
  /** Throws if the response does not match the document. */
  check(answer: Answer, requested: { method: string; path: string }): void
}

/** Statuses and codes that occurred, by operation: `upload 201`, `upload 415 not-multipart`. */
export type Seen = Set<string>

/** Headers that HTTP itself or a proxy adds, and that the document does not list. */
const HTTP_HEADERS = new Set(
  (
    'connection content-length content-type date keep-alive server transfer-encoding trailer ' +
    'via age x-varnish x-cache'
  ).split(' '),
)

/** Static assets, which are not operations. */
const ASSETS = /^\/(assets\/[\w.-]+|favicon\.ico|manifest\.webmanifest|service-worker\.js)$/

/** The Web Share Target, an alias of the upload endpoint. */
const ALIASES: Record<string, string> = { [SHARE_PATH]: UPLOAD_PATH }

const ANYWHERE = 'anywhere'

export async function readDocument(url: string, seen: Seen): Promise<Documented> {
  const { status, text } = await request(url, 'GET', '/openapi.json')
  assert.equal(status, 200, text)
  const document: ApiDocument = JSON.parse(text)
  const validate = validatorsOf.get(text) ?? validators(document)
  validatorsOf.set(text, validate)
  const paths = Object.entries(document.paths).map(([path, item]) => ({
    path,
    item,
    pattern: patternOf(path, item),
  }))

  /** The documented operation. `null` if only the `anywhere` responses apply. */
  function operationOf(method: string, target: string): { pointer: string[]; operation: Operation } | null {
    const sent = target.split('?', 1)[0]!
    const pathname = ALIASES[sent] ?? sent
    const found = paths.find(({ pattern }) => pattern.test(pathname))
    const lower = method.toLowerCase()
    // HEAD works wherever GET does, and is only documented where it differs.
    const name = lower === 'head' && !found?.item.head ? 'get' : lower
    const operation = found?.item[name as 'get']
    return found && operation ? { pointer: ['paths', found.path, name, 'responses'], operation } : null
  }

  return {
    check(answer, { method, path }) {
      const found = operationOf(method, path)
      const where = `${method} ${path.slice(0, 80)} → ${answer.status}`
      if (found === null && answer.status < 400 && ASSETS.test(path.split('?', 1)[0]!)) return
      const own = found?.operation.responses[answer.status]
      const response = own ?? document.components.responses[`${ANYWHERE}-${answer.status}`]
      assert.ok(response, `${where} is not in the document (src/openapi.ts)`)
      const pointer = own
        ? [...found!.pointer, `${answer.status}`]
        : ['components', 'responses', `${ANYWHERE}-${answer.status}`]
      checkHeaders(answer, response, where)
      const code = checkBody(answer, response, pointer, method === 'HEAD', where)
      const name = own ? found!.operation.operationId : ANYWHERE
      seen.add(`${name} ${answer.status}`)
      if (code !== undefined) seen.add(`${name} ${answer.status} ${code}`)
    },
  }

  function checkHeaders({ headers }: Answer, response: ApiResponse, where: string): void {
    const documented = Object.entries(response.headers ?? {})
    const names = new Set(documented.map(([name]) => name.toLowerCase()))
    const unknown = [...headers.keys()].filter((name) => !names.has(name) && !HTTP_HEADERS.has(name))
    assert.deepEqual(unknown, [], `${where}: undocumented headers (see src/openapi.ts)`)
    for (const [name, { $ref }] of documented) {
      const value = headers.get(name)
      const { required = false, schema } = document.components.headers[$ref.split('/').at(-1)!]!
      if (value === null) assert.ok(!required, `${where}: ${name} is missing`)
      else
        validate.header(
          $ref,
          schema.type === 'integer' ? Number(value) : value,
          `${where}: ${name}: ${value}`,
        )
    }
  }

  /** Returns the error code of a problem. */
  function checkBody(
    { headers, body }: Answer,
    { content = {} }: ApiResponse,
    pointer: string[],
    isHead: boolean,
    where: string,
  ): string | undefined {
    const type = headers.get('Content-Type')?.split(';', 1)[0]?.trim()
    if (type === undefined) {
      assert.equal(body.length, 0, `${where}: a body without a Content-Type`)
      return undefined
    }
    const media: MediaType | undefined = content[type]
    assert.ok(media, `${where}: ${type} is not in the document (src/openapi.ts)`)
    if (isHead || body.length === 0 || !/[/+]json$/.test(type) || media.schema === undefined) return undefined
    const text = decompressed(body, headers.get('Content-Encoding'))
    const value = JSON.parse(text)
    validate.body([...pointer, 'content', type, 'schema'], value, `${where}: ${text}`)
    return value.error
  }
}

function decompressed(body: Buffer, coding: string | null): string {
  if (coding === 'br') return brotliDecompressSync(body).toString()
  return (coding === 'gzip' ? gunzipSync(body) : body).toString()
}

/** Documented statuses and codes that did not occur. */
export function unseen({ paths, components }: ApiDocument, seen: Seen): string[] {
  const operations = Object.values(paths).flatMap((item) => Object.entries(item))
  const answers = [
    ...operations.flatMap(([method, { operationId, responses }]) =>
      Object.entries(responses).map(([status, response]) => ({
        name: `${operationId} ${status}`,
        // A response to HEAD has no body, and thus no code.
        codes: method === 'head' ? [] : codesOf(response),
      })),
    ),
    ...Object.entries(components.responses).map(([name, response]) => ({
      name: name.replace('-', ' '),
      codes: codesOf(response),
    })),
  ]
  return answers
    .flatMap(({ name, codes }) => [name, ...codes.map((code) => `${name} ${code}`)])
    .filter((name) => !seen.has(name))
}

function codesOf({ content = {} }: ApiResponse): string[] {
  return Object.keys(content['application/problem+json']?.examples ?? {})
}

/** Converts a path template to a pattern, using the patterns of its parameters. */
function patternOf(path: string, item: ApiDocument['paths'][string]): RegExp {
  const parameters = Object.values(item).flatMap(({ parameters = [] }) => parameters)
  const source = path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, (_, name) => {
    const pattern = parameters.find((parameter) => parameter.name === name)?.schema.pattern as string
    return `(?:${pattern.replace(/^\^|\$$/g, '')})`
  })
  return new RegExp(`^${source}$`)
}

/** Cached by document text: hosts with equal settings serve the same document, and compiling its schemas is slow. */
const validatorsOf = new Map<string, ReturnType<typeof validators>>()

function validators(document: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(document as object, 'document')
  const compiled = new Map<string, ValidateFunction>()
  function check(pointer: string, value: unknown, where: string): void {
    let validate = compiled.get(pointer)
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `document#${pointer}` })
      compiled.set(pointer, validate)
    }
    assert.ok(validate(value), `${where}\n${ajv.errorsText(validate.errors)}`)
  }
  const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
  return {
    header: (ref: string, value: unknown, where: string) => check(`${ref.slice(1)}/schema`, value, where),
    body: (pointer: string[], value: unknown, where: string) =>
      check(`/${pointer.map(escaped).join('/')}`, value, where),
  }
}
