/** The public routes at a glance: image bytes and uploads bypass the framework, everything else goes through it. */
import type { IncomingMessage } from 'node:http'
import type { Hono } from 'hono'
import type { AppEnv } from '../../http/context.ts'
import type { Log } from '../../http/log.ts'
import { isRawTarget, type Raw } from '../../http/routes/raw.ts'
import { isUploadPath, type Upload } from '../../http/routes/upload.ts'
import type { HttpServer } from './http-server.ts'
import type { Pipelining } from './pipelining.ts'
import { createRequestListener, type Exchange } from './request-listener.ts'
import { createRawSender } from './send-raw.ts'
import { stopParsing } from './small-chunk-guard.ts'
import { refuseUnreadable, unreadableAnswer } from './unreadable.ts'

export interface Routes {
  raw: Raw
  upload: Upload
  /** All other routes. */
  app: Hono<AppEnv>
}

export function createListener(
  { raw, upload, app }: Routes,
  { baseUrl, connections }: Pick<HttpServer, 'baseUrl' | 'connections'>,
  log: Log,
): Pipelining {
  const { idle, limits } = connections
  const sendRaw = createRawSender(raw, connections, log)

  async function sendUpload({ incoming, outgoing, body, drained }: Exchange): Promise<void> {
    idle.markBusy(incoming.socket, outgoing)
    const answer = await upload({
      method: incoming.method ?? '',
      path: pathOf(incoming),
      query: queryOf(incoming),
      peer: incoming.socket.remoteAddress ?? '',
      header: (name) => incoming.headers[name] as string | undefined,
      body: body(),
      onDisconnect(onClose) {
        outgoing.once('close', onClose)
        return () => outgoing.off('close', onClose)
      },
      requestId: crypto.randomUUID(),
    })
    if (outgoing.destroyed) return
    // Before the headers, which say whether the connection will close.
    const end = drained()
    outgoing.writeHead(answer.status, answer.headers)
    if (incoming.complete) {
      outgoing.end(answer.body)
      return
    }
    // Clients that read while sending may skip the rest of the body.
    if (answer.body === null) outgoing.flushHeaders()
    else outgoing.write(answer.body)
    await end
    outgoing.end()
  }

  function abort({ outgoing }: Exchange, error: unknown): void {
    log.error({ err: error }, 'an upload could not be answered')
    outgoing.destroy()
  }

  return createRequestListener({
    connections,
    screen(incoming) {
      if (isWellFormed(incoming)) {
        incoming.url = originForm(incoming.url ?? '')
        return true
      }
      stopParsing(incoming.socket)
      refuseUnreadable(baseUrl, 400, incoming.socket)
      return false
    },
    handle(exchange, next) {
      const { method, url = '' } = exchange.incoming
      const isRead = method === 'GET' || method === 'HEAD'
      if (isRead && isRawTarget(url)) sendRaw(exchange, next)
      else if (isUploadPath(pathOf(exchange.incoming)))
        sendUpload(exchange).catch((error) => abort(exchange, error))
      else next()
    },
    fetch: app.fetch,
    baseUrl,
    onBadUrl: () => unreadableAnswer(baseUrl),
    maxDrained: (incoming) =>
      incoming.method === 'POST' && isUploadPath(pathOf(incoming))
        ? limits.drainBytes
        : limits.unexpectedBodyBytes,
  })
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]!
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/**
 * Whether the request is HTTP/1 with exactly one Host header, which only HTTP/1.0 may omit (RFC 9112, 3.2). Node's own check
 * accepts two. The only transfer coding is chunked, which Node also finds at the end of a list; HTTP/1.0 must not use it: a
 * proxy that does not know it would see the body end elsewhere (6.1).
 */
function isWellFormed(incoming: IncomingMessage): boolean {
  const { httpVersionMajor, httpVersionMinor, rawHeaders } = incoming
  const coding = incoming.headers['transfer-encoding']
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) return false
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return httpVersionMajor === 1 && (hosts === 1 || (hosts === 0 && httpVersionMinor === 0))
}

/** Strips the origin from an absolute-form target (RFC 9112, 3.2.2): whatever it names, it means this server. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, '/')
}
