import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { createAvifDecoder } from '../compress/avif-decoder.ts'
import { createCodecs, type LoadWasm } from '../compress/codecs.ts'
import type { Reply, Request } from './messages.ts'
import { createRequestHandler } from './work.ts'

const loadWasm: LoadWasm = async (path) =>
  WebAssembly.compile(await readFile(fileURLToPath(import.meta.resolve(path))))
const codecs = { ...createCodecs(loadWasm), decodeAvif: createAvifDecoder(loadWasm) }
const post = (reply: Reply, transfer: ArrayBuffer[] = []) => parentPort?.postMessage(reply, transfer)
const work = createRequestHandler(codecs, post)
parentPort?.on('message', (request: Request) => work(request))
post({ kind: 'ready' })
