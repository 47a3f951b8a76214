import { createCodecs } from '../compress/codecs.ts'
import type { Request } from './messages.ts'
import { createRequestHandler } from './work.ts'

// The codecs fetch their own .wasm from the URL that the bundler assigned.
const codecs = createCodecs(async () => undefined)
const work = createRequestHandler(codecs, (reply, transfer = []) => postMessage(reply, { transfer }))
addEventListener('message', ({ data }: MessageEvent<Request>) => work(data))
postMessage({ kind: 'ready' })
