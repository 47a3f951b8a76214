/** Serves every page with made-up data, for looking at them: `node test/web/preview.ts [port]`. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { loadAssets } from '../../src/node/assets.ts'
import {
  deletedPage,
  deletePage,
  errorPage,
  homePage,
  type PageContext,
  pickMessages,
  resultPage,
  termsPage,
  viewerPage,
} from '../../src/web/pages.ts'

const CORPUS = process.env.PINHOLE_CORPUS ?? join(import.meta.dirname, '../../../shared/corpus')
const ID = 'Zr4Kq9Lm2Xa'
const KEY = `${ID}${'k'.repeat(32)}`
const { assets, urls } = await loadAssets()
const app = new Hono()

function context(accept: string | undefined): PageContext {
  return {
    baseUrl: 'https://pinhole.example',
    maxUploadBytes: 26_214_400,
    uploadsPerDay: 100,
    messages: pickMessages(accept),
    assets: urls,
  }
}

for (const [path, asset] of assets) {
  app.get(path, (c) => c.body(Buffer.from(asset.bytes), 200, { 'content-type': asset.type }))
}
let count = 0
app.post('/api/upload', async (c) => {
  await c.req.arrayBuffer()
  const id = `Zr4Kq9Lm2${String(++count).padStart(2, '0')}`
  const key = `${id}${'k'.repeat(32)}`
  return c.json(
    {
      id,
      link: `https://pinhole.example/${id}`,
      key,
      delete: `https://pinhole.example/api/delete?key=${key}`,
    },
    201,
    { 'X-RateLimit-Remaining': `${100 - count}` },
  )
})
app.options('/api/upload', (c) => c.body(null, 204, { 'X-RateLimit-Remaining': `${100 - count}` }))
app.delete('/api/delete', (c) => c.json({ success: true }))
app.get('/raw/:name', async (c) => {
  const file = c.req.param('name').startsWith('portrait') ? 'Portrait_8.jpg' : '2569067123_aca715a2ee_o.jpg'
  return c.body(await readFile(join(CORPUS, file)), 200, { 'content-type': 'image/jpeg' })
})
app.get('/', (c) => c.html(homePage(context(c.req.header('accept-language')), { uploadsPaused: false })))
app.get('/paused', (c) => c.html(homePage(context(c.req.header('accept-language')), { uploadsPaused: true })))
app.get('/view', (c) =>
  c.html(
    viewerPage(context(c.req.header('accept-language')), {
      record: {
        id: ID,
        type: 'image/jpeg',
        size: 829_183,
        width: 2725,
        height: 2225,
        animated: false,
        sha256: '',
        sentSha256: '',
        keySha256: '',
        createdAt: '2026-11-21T10:00:00Z',
      },
    }),
  ),
)
app.get('/delete', (c) => c.html(deletePage(context(c.req.header('accept-language')), { key: KEY })))
app.get('/deleted', (c) => c.html(deletedPage(context(c.req.header('accept-language')))))
app.get('/result', (c) =>
  c.html(
    resultPage(context(c.req.header('accept-language')), {
      answer: {
        id: ID,
        link: `https://pinhole.example/${ID}`,
        key: KEY,
        delete: `https://pinhole.example/api/delete?key=${KEY}`,
      },
      remaining: 97,
    }),
  ),
)
app.get('/terms', (c) => c.html(termsPage(context(c.req.header('accept-language')))))
for (const [status, error] of [
  [404, 'not-found'],
  [410, 'removed'],
  [429, 'quota-exceeded'],
] as const) {
  app.get(`/${status}`, (c) =>
    c.html(errorPage(context(c.req.header('accept-language')), { status, error, title: '', detail: '' })),
  )
}

const port = Number(process.argv[2] ?? 4400)
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log(`http://127.0.0.1:${port}/`))
