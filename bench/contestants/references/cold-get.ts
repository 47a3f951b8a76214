/**
 * Bare `node:http` with files: opens, reads and sends without any checks. Reads only the requested part for a range.
 * Arguments: a port, a folder, a JSON file of headers, and how to read: `whole` (`fs.readFile`) or `stream`.
 */
import { createReadStream, readFile, readFileSync, stat } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import path from 'node:path'

const [port, folder, headersPath, mode] = process.argv.slice(2) as [string, string, string, string]
const headers: [string, string][] = JSON.parse(readFileSync(headersPath, 'utf8'))
const common = [...headers.flat(), 'Content-Type', 'image/jpeg']

function sendWhole(file: string, response: ServerResponse): void {
  readFile(file, (error, bytes) => {
    if (error) return void response.writeHead(404).end()
    response.writeHead(200, [...common, 'Content-Length', String(bytes.length)])
    response.end(bytes)
  })
}

function sendStream(file: string, response: ServerResponse, range?: { start: number; end: number }): void {
  stat(file, (error, found) => {
    if (error) return void response.writeHead(404).end()
    const { start, end } = range ?? { start: 0, end: found.size - 1 }
    const length = ['Content-Length', String(end - start + 1)]
    if (range) length.push('Content-Range', `bytes ${start}-${end}/${found.size}`)
    response.writeHead(range ? 206 : 200, [...common, ...length])
    createReadStream(file, { start, end }).pipe(response)
  })
}

createServer((request, response) => {
  if (request.url === '/healthz') return void response.end()
  const file = path.join(folder, path.basename(request.url!))
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (range) sendStream(file, response, { start: Number(range[1]), end: Number(range[2]) })
  else if (mode === 'whole') sendWhole(file, response)
  else sendStream(file, response)
}).listen(Number(port), '127.0.0.1')
