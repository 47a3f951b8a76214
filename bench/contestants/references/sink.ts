/**
 * The least that a durable upload can cost on Node: takes the body as it comes, writes it to a temp file, fsyncs it,
 * renames it, answers 201. It parses nothing and checks nothing.
 * Called with a port, a folder, and how to write: `collect` (the whole body, then one write), `stream` (chunk by chunk as
 * they come), or `durable`, which collects, and flushes the folder too: else a power cut may take the file's name.
 */
import type { Buffer } from 'node:buffer'
import { open, rename, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import path from 'node:path'

const [port, folder, way] = process.argv.slice(2) as [string, string, string]
const names = await open(folder)
let uploads = 0

async function collect(request: IncomingMessage, temporary: string): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  await using file = await open(temporary, 'wx')
  await file.writev(chunks)
  await file.sync()
}

async function stream(request: IncomingMessage, temporary: string): Promise<void> {
  await using file = await open(temporary, 'wx')
  for await (const chunk of request) await file.write(chunk)
  await file.sync()
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const name = String(uploads++)
  const file = path.join(folder, name)
  try {
    await (way === 'stream' ? stream : collect)(request, `${file}.tmp`)
    await rename(`${file}.tmp`, file)
    if (way === 'durable') await names.sync()
    response.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify({ name }))
  } catch (error) {
    // The load generator hangs up in the middle of uploads when its time is over.
    await rm(`${file}.tmp`, { force: true })
    if (!request.destroyed) throw error
  }
}

createServer((request, response) => {
  if (request.method === 'POST') receive(request, response)
  else response.end()
}).listen(Number(port), '127.0.0.1')
