import { MAX_ANSWER_BYTES, NetworkFault, type Transport, tooLong, watchForStall } from './transport.ts'

/** Transport for browsers, where `fetch` reports no upload progress. */
export const xhrTransport: Transport = ({ method, url, headers: more = {}, file, signal, onSent }) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const request = new XMLHttpRequest()
    // By default, an answer without a Content-Type (a proxy's empty 503) is parsed as XML, and
    // Firefox logs an error for it (XMLHttpRequest, "set a document response").
    request.responseType = 'text'
    const watch = watchForStall((fault) => end(() => reject(fault)))
    const cancel = () => end(() => reject(signal?.reason))
    const end = (settlePromise: () => void) => {
      watch.stop()
      signal?.removeEventListener('abort', cancel)
      settlePromise()
      request.abort()
    }
    signal?.addEventListener('abort', cancel)
    request.open(method, url)
    request.setRequestHeader('Accept', 'application/json')
    for (const [name, value] of Object.entries(more)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => {
      watch.touch()
      onSent?.(loaded, total)
    }
    request.onprogress = ({ loaded }) => {
      watch.touch()
      // The limit applies to both the compressed and the decompressed length.
      if (loaded > MAX_ANSWER_BYTES || request.responseText.length > MAX_ANSWER_BYTES) {
        end(() => reject(tooLong()))
      }
    }
    request.onerror = () => end(() => reject(new NetworkFault('the connection failed')))
    request.onload = () =>
      end(() =>
        request.responseText.length > MAX_ANSWER_BYTES
          ? reject(tooLong())
          : resolve({
              status: request.status,
              header: (name) => headers.get(name.toLowerCase()) ?? null,
              text: request.responseText,
            }),
      )
    const headers = new Map<string, string>()
    request.onreadystatechange = () => {
      if (request.readyState !== XMLHttpRequest.HEADERS_RECEIVED) return
      for (const line of request.getAllResponseHeaders().split('\r\n')) {
        const colon = line.indexOf(':')
        if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
      }
    }
    const form = new FormData()
    if (file) form.append(file.field, file.blob, file.name)
    request.send(file ? form : null)
  })
