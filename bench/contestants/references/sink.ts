/**
 * The minimal cost of a durable upload on Node: writes the raw body to a temporary file, fsyncs and renames it, and answers
 * 201. Parses nothing and checks nothing.
 * Arguments: a port, a folder, and how to write: `collect` (the whole body with one write), `stream` (each chunk as it
 * arrives), or `durable` (collects, and also fsyncs the folder: otherwise a power cut may lose the file's name).
 */
import type { Buffer } from 'node:buffer'
import { open, rename, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import path from 'node:path'

const [port, folder, mode] = process.argv.slice(2) as [string, string, string]
const directory = await open(folder)
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
    await (mode === 'stream' ? stream : collect)(request, `${file}.tmp`)
    await rename(`${file}.tmp`, file)
    if (mode === 'durable') await directory.sync()
    response.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify({ name }))
  } catch (error) {
    // The load generator disconnects in the middle of uploads when its time is over.
    await rm(`${file}.tmp`, { force: true })
    if (!request.destroyed) throw error
  }
}

createServer((request, response) => {
  if (request.method === 'POST') receive(request, response)
  else response.end()
}).listen(Number(port), '127.0.0.1')
