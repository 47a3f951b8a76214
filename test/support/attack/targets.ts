/** Every route and method that a stranger can reach, for attacks on all of them. */
import { DELETE_PATH, UPLOAD_PATH } from '../../../src/protocol.ts'
import { SHARE_PATH } from '../../../src/web/share-path.ts'

export interface Target {
  method: string
  path: string
  headers?: string
  /** What the body pretends to be. Every route gets bodies; these read some of it. */
  takes?: 'upload' | 'form'
}

/** What is stored on the server under attack. */
export interface Stored {
  smallId: string
  /** Of an image as large as may be. */
  largeId: string
}

export function targetsFor({ smallId, largeId }: Stored): Target[] {
  const pages = ['/', '/terms', '/api', '/openapi.json', '/tools', '/sharex.sxcu', '/upload.sh', '/nothing']
  const unknownKey = smallId + 'A'.repeat(32)
  return [
    { method: 'POST', path: UPLOAD_PATH, takes: 'upload' },
    { method: 'POST', path: SHARE_PATH, takes: 'upload' },
    { method: 'PUT', path: UPLOAD_PATH },
    { method: 'OPTIONS', path: UPLOAD_PATH },
    { method: 'POST', path: '/delete', takes: 'form' },
    { method: 'DELETE', path: `${DELETE_PATH}?key=${unknownKey}` },
    { method: 'GET', path: `${DELETE_PATH}?key=${unknownKey}` },
    { method: 'GET', path: `/raw/${largeId}` },
    { method: 'GET', path: `http://any.example/raw/${largeId}` },
    { method: 'GET', path: `/raw/${largeId}`, headers: 'Range: bytes=1000000-1000000\r\n' },
    { method: 'HEAD', path: `/raw/${largeId}` },
    { method: 'GET', path: `/raw/${smallId}` },
    { method: 'GET', path: '/raw/AAAAAAAAAAA' },
    { method: 'GET', path: `/${smallId}` },
    { method: 'GET', path: '/healthz' },
    { method: 'GET', path: '/readyz' },
    ...pages.map((path) => ({ method: 'GET', path })),
  ]
}

const MULTIPART =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.gif"\r\nContent-Type: image/gif\r\n\r\nGIF89a'

/** The head of a request, without its empty line. */
export function headOf({ method, path, headers = '', takes }: Target, more = ''): string {
  const type = takes === 'upload' ? 'multipart/form-data; boundary=b' : 'application/x-www-form-urlencoded'
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${headers}${more}`
}

/** How a body begins that is read for as long as possible. */
export function bodyStart({ takes }: Target): string {
  return takes === 'upload' ? MULTIPART : 'key='
}
