/** Every path and method that anyone can reach, as targets of attacks. */
import { UPLOAD_METHODS } from '../../../src/http/routes/upload.ts'
import { UPLOAD_PATH } from '../../../src/protocol.ts'
import { gif } from '../images/tiny-images.ts'
import { operatorRoutes, publicRoutes } from './routes.ts'

export interface Target {
  method: string
  path: string
  headers?: string
  /** Type of the body, for routes that read it. All routes get bodies. */
  takes?: 'upload' | 'form' | 'json' | undefined
  /** A small body that is valid or nearly so. */
  whole?: string | undefined
  /** On the admin server. */
  isAtAdmin?: boolean
}

/** What the server under attack stores. */
export interface Stored {
  baseUrl: string
  smallId: string
  /** An image of the maximum size. */
  largeId: string
  /** Path of the largest asset. */
  assetPath: string
}

/** Placeholders, to name attacks before a server exists. */
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
    // Represents wrong methods on all paths.
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
    // Only on the admin server.
    { method: 'GET', path: '/metrics' },
    ...operatorRoutes(stored),
  ]
}

function upload(method: string, path: string): Target {
  return method === 'POST' ? { method, path, takes: 'upload', whole: WHOLE_UPLOAD } : { method, path }
}

const MULTIPART =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.gif"\r\nContent-Type: image/gif\r\n\r\n'

/** A valid upload: each reaches the disk until the daily quota is used up. */
const WHOLE_UPLOAD = `${MULTIPART}${gif().toString('latin1')}\r\n--b--\r\n`

const TYPES = {
  upload: 'multipart/form-data; boundary=b',
  form: 'application/x-www-form-urlencoded',
  json: 'application/json',
}

/** Start of a body that the server keeps reading for as long as possible. */
const STARTS = { upload: `${MULTIPART}GIF89a`, form: 'key=', json: '{"text":"' }

/** Request line and headers, without the final empty line. */
export function headOf({ method, path, headers = '', takes = 'form' }: Target, more = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${TYPES[takes]}\r\n${headers}${more}`
}

export function bodyStart({ takes = 'form' }: Target): string {
  return STARTS[takes]
}

/** A complete request. */
export function wholeRequest(target: Target, more = ''): Buffer {
  const { whole = '' } = target
  return Buffer.from(`${headOf(target, more)}Content-Length: ${whole.length}\r\n\r\n${whole}`, 'latin1')
}
