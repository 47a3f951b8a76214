/**
 * Webhooks: `https://host/path#whsec_<base64>`. The fragment is the signing secret; it is never sent.
 *
 * Source: Standard Webhooks 1.0 (https://www.standardwebhooks.com): `webhook-id`, `webhook-timestamp` in seconds, and
 * `webhook-signature`, HMAC-SHA256 over `<id>.<timestamp>.<body>`.
 */
import { decoded } from './addresses.ts'
import type { Notice, Notifier } from './notifier.ts'
import { post } from './post.ts'

const SECRET = /^#whsec_([0-9A-Za-z+/]{32,88}={0,2})$/

const SECRET_BYTES = { min: 24, max: 64 }

/** Throws an `Error` that explains the URL format, without revealing secrets. */
export function webhook(url: URL, now: () => number = Date.now): Notifier {
  const secret = secretOf(url)
  const { protocol, host, pathname, search } = url
  const key = crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return {
    // Without the path, which is a secret for many receivers.
    name: `${protocol}//${host}`,
    async deliver(notice) {
      const body = JSON.stringify(payloadOf(notice))
      const timestamp = `${Math.floor(now() / 1000)}`
      const signed = new TextEncoder().encode(`${notice.id}.${timestamp}.${body}`)
      const mac = new Uint8Array(await crypto.subtle.sign('HMAC', await key, signed))
      const headers = {
        'Content-Type': 'application/json',
        'webhook-id': notice.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${btoa(String.fromCharCode(...mac))}`,
      }
      await post(`${protocol}//${host}${pathname}${search}`, headers, body)
    },
  }
}

function secretOf({ hash }: URL): Uint8Array<ArrayBuffer> {
  const base64 = SECRET.exec(decoded(hash))?.[1]
  const text = base64 === undefined ? '' : bytesOf(base64)
  if (text.length >= SECRET_BYTES.min && text.length <= SECRET_BYTES.max) {
    return Uint8Array.from(text, (character) => character.charCodeAt(0))
  }
  throw new Error('NOTIFY: a webhook URL must end with its secret: #whsec_ and 24 to 64 bytes in base64')
}

function bytesOf(base64: string): string {
  try {
    return atob(base64)
  } catch {
    return ''
  }
}

/** Standard Webhooks, "Payload structure": type, timestamp, data. */
function payloadOf({ kind, isUrgent, at, title, text, link }: Notice): object {
  return { type: kind, timestamp: new Date(at).toISOString(), data: { urgent: isUrgent, title, text, link } }
}
