/**
 * A typical upload handler with Fastify and @fastify/multipart: pipes the file part into a file that is flushed on close.
 * Checks nothing, and does not flush the folder. Arguments: a port and a folder.
 */
import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import multipart from '@fastify/multipart'
import fastify from 'fastify'

const [port, folder] = process.argv.slice(2) as [string, string]
let uploads = 0

const app = fastify()
app.register(multipart, { limits: { fileSize: 26_214_400 } })
app.get('/healthz', async () => 'ok')
app.post('/api/upload', async (request, reply) => {
  const part = await request.file()
  const name = String(uploads++)
  await pipeline(part!.file, createWriteStream(path.join(folder, name), { flush: true }))
  return reply.code(201).send({ name })
})
await app.listen({ port: Number(port), host: '127.0.0.1' })
