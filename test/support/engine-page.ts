/** A page of nothing but the client engine, bundled as for people and served under their Content-Security-Policy. */
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'vite'
import { listen } from './listen.ts'

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:",
  "require-trusted-types-for 'script'",
  'trusted-types pinhole',
].join('; ')

const TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.html': 'text/html; charset=utf-8',
}

/** Script for a page or worker: its canvas reads pixels slightly wrong, as browsers do that resist fingerprinting. */
export const UNFAITHFUL_CANVAS = `{
  const native = OffscreenCanvasRenderingContext2D.prototype.getImageData
  OffscreenCanvasRenderingContext2D.prototype.getImageData = function (...area) {
    const data = native.apply(this, area)
    data.data[5] ^= 1
    return data
  }
}`

export interface EnginePage {
  url: string
  /** What was asked for since the start or since `forget`, by path. Unit: bytes in brotli. */
  downloads: Map<string, number>
  close(): void
}

/** `entry`: a script that puts what the test calls on `window`. `answer`: for what is no file, e.g. an upload. */
export async function serveEnginePage(
  entry: string,
  answer: (body: Buffer) => { status: number; body: string } = () => ({ status: 404, body: '' }),
): Promise<EnginePage> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    worker: { format: 'es' },
    build: {
      write: false,
      target: 'es2023',
      modulePreload: false,
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: entry,
        output: { entryFileNames: 'entry.js' },
        checks: { pluginTimings: false },
      },
    },
  })
  const { output } = built as {
    output: ({ fileName: string } & ({ code: string } | { source: string | Uint8Array }))[]
  }
  const files = new Map(
    output.map((file) => [`/${file.fileName}`, Buffer.from('code' in file ? file.code : file.source)]),
  )
  files.set(
    '/',
    Buffer.from('<!doctype html><title>engine</title><script type="module" src="/entry.js"></script>'),
  )
  const sizes = new Map([...files].map(([path, bytes]) => [path, brotliCompressSync(bytes).length]))
  const downloads = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const file = files.get(path)
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      if (!file) {
        const { status, body } =
          path === '/favicon.ico' ? { status: 204, body: '' } : answer(Buffer.concat(parts))
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(body)
        return
      }
      downloads.set(path, sizes.get(path)!)
      response.writeHead(200, {
        'Content-Type': TYPES[path === '/' ? '.html' : extname(path)] ?? 'application/octet-stream',
        'Content-Security-Policy': POLICY,
      })
      response.end(file)
    })
  })
  return {
    url: `http://127.0.0.1:${await listen(server)}/`,
    downloads,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
