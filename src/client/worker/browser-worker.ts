import { createCodecs } from '../compress/codecs.ts'
import type { Request } from './messages.ts'
import { createWork } from './work.ts'

// The codecs fetch their own .wasm, by the address that the bundler gave it.
const codecs = createCodecs(async () => undefined)
const work = createWork(codecs, (reply, transfer = []) => postMessage(reply, { transfer }))
addEventListener('message', ({ data }: MessageEvent<Request>) => work(data))
postMessage({ kind: 'ready' })
