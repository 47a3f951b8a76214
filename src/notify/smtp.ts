/**
 * E-mail: `smtp://user:password@host:587?from=pinhole@host&to=operator@host`; `smtps://` uses implicit TLS. With a password,
 * `smtp://` requires STARTTLS, unless `?tls=off`.
 *
 * Source: RFC 5321, and RFC 5322 for the message. The Message-ID is stable across retries.
 */
import { createTransport } from 'nodemailer'
import { RemoteFailure } from '../errors.ts'
import { decoded } from './addresses.ts'
import { MAX_DELIVERY_MS, type Notice, type Notifier } from './notifier.ts'

const ADDRESS = /^[^\s@<>",;:]+@[^\s@<>",;:]+$/

/** Throws an `Error` that explains the URL format, without revealing secrets. */
export function smtp(url: URL): Notifier {
  const from = address(url, 'from')
  const to = address(url, 'to')
  const isImplicit = url.protocol === 'smtps:'
  const withoutTls = url.searchParams.get('tls') === 'off'
  const [user, pass] = [decoded(url.username), decoded(url.password)]
  const options = {
    host: url.hostname,
    port: url.port === '' ? (isImplicit ? 465 : 587) : Number(url.port),
    secure: isImplicit,
    ignoreTLS: withoutTls,
    requireTLS: user !== '' && !isImplicit && !withoutTls,
    ...(user === '' ? {} : { auth: { user, pass } }),
    connectionTimeout: MAX_DELIVERY_MS / 2,
    greetingTimeout: MAX_DELIVERY_MS / 2,
    socketTimeout: MAX_DELIVERY_MS / 2,
    // Notices never include content from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  return {
    name: `${url.protocol}//${url.host}`,
    async deliver(notice) {
      const signal = AbortSignal.timeout(MAX_DELIVERY_MS)
      const message = { from, to, signal, ...messageOf(notice, from) }
      await createTransport(options)
        .sendMail(message)
        .catch((cause) => {
          throw new RemoteFailure('the mail server did not accept the message', undefined, { cause })
        })
    },
  }
}

function address(url: URL, name: 'from' | 'to'): string {
  // Addresses contain no spaces: in a query, "+" stands for one.
  const value = (url.searchParams.get(name) ?? '').replaceAll(' ', '+')
  if (ADDRESS.test(value)) return value
  throw new Error(`NOTIFY: ${url.protocol}// needs ?from=…&to=…, with one e-mail address each`)
}

function messageOf({ id, isUrgent, at, title, text, link }: Notice, from: string) {
  const [, domain] = from.split('@')
  return {
    messageId: `<${id}@${domain}>`,
    date: new Date(at),
    subject: title,
    text: link === null ? text : `${text}\n\n${link}`,
    // RFC 3834: no out-of-office replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    ...(isUrgent ? { priority: 'high' as const } : {}),
  }
}
