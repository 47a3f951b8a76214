/**
 * Bare `node:http`: pictures in memory, no checks, one `writeHead` and one `end` per request.
 * Arguments: a port, a folder of pictures, and a JSON file of headers.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'

const [port, folder, headersPath] = process.argv.slice(2) as [string, string, string]
const pictures = new Map(
  readdirSync(folder).map((name) => [`/raw/${name}`, readFileSync(path.join(folder, name))]),
)
const headers: [string, string][] = JSON.parse(readFileSync(headersPath, 'utf8'))

createServer((request, response) => {
  const bytes = pictures.get(request.url!)
  if (request.url === '/healthz') response.end()
  else if (!bytes) response.writeHead(404).end()
  else {
    response.writeHead(200, [
      ...headers.flat(),
      'Content-Type',
      'image/jpeg',
      'Content-Length',
      String(bytes.length),
    ])
    response.end(bytes)
  }
}).listen(Number(port), '127.0.0.1')
