/** Every address and method that a stranger can reach, for attacks on all of them. */
import { UPLOAD_METHODS } from '../../../src/http/routes/upload.ts'
import { UPLOAD_PATH } from '../../../src/protocol.ts'
import { gif } from '../images/tiny-images.ts'
import { operatorRoutes, publicRoutes } from './routes.ts'

export interface Target {
  method: string
  path: string
  headers?: string
  /** What the body pretends to be. Every route gets bodies; these read some of it. */
  takes?: 'upload' | 'form' | 'json' | undefined
  /** A small body that is taken, or nearly. */
  whole?: string | undefined
  /** It is the operator's. */
  isAtAdmin?: boolean
}

/** What is stored on the server under attack. */
export interface Stored {
  baseUrl: string
  smallId: string
  /** An image of the largest size. */
  largeId: string
  /** Path of the largest file that pages load. */
  assetPath: string
}

/** For the names of attacks, before there is a server. */
export const NOTHING_STORED: Stored = {
  baseUrl: 'http://localhost',
  smallId: '<small>',
  largeId: '<large>',
  assetPath: '<asset>',
}

export function targetsFor(stored: Stored): Target[] {
  const { smallId, largeId } = stored
  return [
    ...Object.entries(UPLOAD_METHODS).flatMap(([path, methods]) =>
      methods.split(', ').map((method) => upload(method, path)),
    ),
    // For the wrong methods of all addresses.
    { method: 'PUT', path: UPLOAD_PATH },
    { method: 'POST', path: '/terms' },
    { method: 'GET', path: `/raw/${largeId}` },
    { method: 'GET', path: `http://any.example/raw/${largeId}` },
    { method: 'GET', path: `/raw/${largeId}`, headers: 'Range: bytes=1000000-1000000\r\n' },
    { method: 'HEAD', path: `/raw/${largeId}` },
    { method: 'GET', path: `/raw/${smallId}` },
    { method: 'GET', path: '/raw/AAAAAAAAAAA' },
    { method: 'GET', path: `/preview/${smallId}` },
    { method: 'GET', path: '/preview/AAAAAAAAAAA' },
    ...publicRoutes(stored),
    // What is on the admin server alone.
    { method: 'GET', path: '/metrics' },
    ...operatorRoutes(stored),
  ]
}

function upload(method: string, path: string): Target {
  return method === 'POST' ? { method, path, takes: 'upload', whole: WHOLE_UPLOAD } : { method, path }
}

const MULTIPART =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.gif"\r\nContent-Type: image/gif\r\n\r\n'

/** A real one: each takes its way to the disk, until the day's quota is used up. */
const WHOLE_UPLOAD = `${MULTIPART}${gif().toString('latin1')}\r\n--b--\r\n`

const TYPES = {
  upload: 'multipart/form-data; boundary=b',
  form: 'application/x-www-form-urlencoded',
  json: 'application/json',
}

/** How a body begins that is read for as long as possible. */
const STARTS = { upload: `${MULTIPART}GIF89a`, form: 'key=', json: '{"text":"' }

/** The head of a request, without its empty line. */
export function headOf({ method, path, headers = '', takes = 'form' }: Target, more = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${TYPES[takes]}\r\n${headers}${more}`
}

export function bodyStart({ takes = 'form' }: Target): string {
  return STARTS[takes]
}

/** A request with all of its body. */
export function wholeRequest(target: Target, more = ''): Buffer {
  const { whole = '' } = target
  return Buffer.from(`${headOf(target, more)}Content-Length: ${whole.length}\r\n\r\n${whole}`, 'latin1')
}
