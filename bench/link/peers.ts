/** Runs in a page: compresses with popular libraries, then uploads. Two uploads at a time, like our page. */
import decode from '@jsquash/jpeg/decode.js'
import encode from '@jsquash/jpeg/encode.js'
import optimise from '@jsquash/oxipng/optimise.js'
import Compressor from 'compressorjs'

const CONCURRENCY = 2

const PEERS: Record<string, (file: File) => Promise<Blob>> = {
  compressorjs: (file) =>
    new Promise((success, error) => {
      new Compressor(file, { success, error })
    }),
  // Squoosh's codecs with defaults. On the main thread, which does not affect the elapsed time.
  Squoosh: async (file) => {
    const bytes = await file.arrayBuffer()
    if (file.type === 'image/png') return new Blob([await optimise(bytes)], { type: file.type })
    return new Blob([await encode(await decode(bytes))], { type: file.type })
  },
}

async function send(service: string, peer: string, files: File[]): Promise<void> {
  const waiting = [...files]
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const form = new FormData()
      form.append('file', await PEERS[peer]!(file), 'image')
      const answer = await fetch(`${service}/api/upload`, { method: 'POST', body: form })
      if (answer.status !== 201) throw new Error(`${answer.status}`)
      const { link } = (await answer.json()) as { link: string }
      document.body.append(Object.assign(document.createElement('p'), { textContent: link }))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

const input = Object.assign(document.createElement('input'), { type: 'file', id: 'file', multiple: true })
const { service = '', peer = '' } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
input.onchange = () => {
  send(service, peer, [...input.files!]).catch((error) => {
    document.documentElement.dataset.failed = `${error}`
  })
}
document.body.append(input)
document.documentElement.dataset.live = ''
