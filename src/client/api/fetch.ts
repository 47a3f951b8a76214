import {
  type Exchange,
  MAX_ANSWER_BYTES,
  NetworkFault,
  type Transport,
  tooLong,
  watchForStall,
} from './transport.ts'

/** The transport where there is no XMLHttpRequest. The body is streamed, so that its progress can be seen. */
export const fetchTransport: Transport = async ({ method, url, headers: more, file, signal, onSent }) => {
  const giveUp = new AbortController()
  const watch = watchForStall((fault) => giveUp.abort(fault))
  const signals = signal ? [signal, giveUp.signal] : [giveUp.signal]
  const init: RequestInit & { duplex?: 'half' } = {
    method,
    signal: AbortSignal.any(signals),
    // A redirected POST would arrive as a GET. The answer says where to go instead.
    redirect: 'manual',
  }
  const headers = new Headers({ ...more, accept: 'application/json' })
  if (file) {
    const body = multipartOf(file)
    headers.set('content-type', body.type)
    headers.set('content-length', `${body.size}`)
    init.duplex = 'half'
    init.body = counted(body, (sentBytes) => {
      watch.touch()
      onSent?.(sentBytes, body.size)
    })
  }
  try {
    const response = await fetch(url, { ...init, headers })
    watch.touch()
    const text = await textOf(response, watch.touch)
    return { status: response.status, header: (name) => response.headers.get(name), text }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof NetworkFault) throw error
    throw new NetworkFault(reasonOf(error), { cause: error })
  } finally {
    watch.stop()
    // Cancels the rest of the response body.
    giveUp.abort()
  }
}

/** At most `MAX_ANSWER_BYTES`, as they are when they are unpacked. Throws `NetworkFault` past that, and reads no further. */
async function textOf(response: Response, onRead: () => void): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    onRead()
    bytes += value.length
    if (bytes > MAX_ANSWER_BYTES) {
      reader.cancel().catch(() => {})
      throw tooLong()
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** RFC 7578. The name is the SDK's own and needs no escaping. */
function multipartOf(file: NonNullable<Exchange['file']>): Blob {
  const boundary = `pinhole-${crypto.randomUUID()}`
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="${file.field}"; filename="${file.name}"\r\n` +
    `Content-Type: ${file.blob.type || 'application/octet-stream'}\r\n\r\n`
  return new Blob([head, file.blob, `\r\n--${boundary}--\r\n`], {
    type: `multipart/form-data; boundary=${boundary}`,
  })
}

/** Small pieces, so that progress shows what the connection takes and not what memory holds. */
const PIECE_BYTES = 64 * 1024

function counted(blob: Blob, onSent: (sentBytes: number) => void): ReadableStream<Uint8Array> {
  let sentBytes = 0
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = blob.slice(sentBytes, sentBytes + PIECE_BYTES)
        if (piece.size === 0) return controller.close()
        controller.enqueue(new Uint8Array(await piece.arrayBuffer()))
        sentBytes += piece.size
        onSent(sentBytes)
      },
    },
    { highWaterMark: 0 },
  )
}

/** `fetch` says "fetch failed" and hides the reason (ECONNREFUSED …) in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = (cause as { code?: unknown } | null)?.code
  const message = cause instanceof Error ? cause.message : String(cause)
  return message || String(code ?? 'the connection failed')
}
