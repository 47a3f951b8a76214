/**
 * A Hono route on Node: pictures in memory, no checks, one `Response` per request.
 * Arguments: a port, a folder of pictures, and a JSON file of headers.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const [port, folder, headersPath] = process.argv.slice(2) as [string, string, string]
const pictures = new Map(readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name))]))
const headers: [string, string][] = JSON.parse(readFileSync(headersPath, 'utf8'))

const app = new Hono()
app.get('/healthz', (c) => c.text('ok'))
app.get('/raw/:name', (c) => {
  const bytes = pictures.get(c.req.param('name'))
  if (!bytes) return c.notFound()
  return new Response(bytes, {
    headers: [...headers, ['Content-Type', 'image/jpeg'], ['Content-Length', String(bytes.length)]],
  })
})
serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' })
